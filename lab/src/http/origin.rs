//! Where a server answers.

use std::fmt;
use std::net::{SocketAddr, ToSocketAddrs};

/// Where a server answers: `http://host:port`, nothing after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    pub authority: String,
    pub address: SocketAddr,
}

#[derive(Debug, thiserror::Error)]
pub enum InvalidUrl {
    #[error("{0:?} is not a URL that can be measured: give it as http://127.0.0.1:8083")]
    Form(String),
    #[error("cannot find the host of {url:?}: {source}")]
    Resolve { url: String, source: std::io::Error },
}

impl Origin {
    pub fn parse(url: &str) -> Result<Self, InvalidUrl> {
        let form = || InvalidUrl::Form(url.to_owned());
        let rest = url.strip_prefix("http://").ok_or_else(form)?;
        let authority = rest.strip_suffix('/').unwrap_or(rest);
        if authority.is_empty() || authority.contains(['/', '?', '#', '@', ' ']) {
            return Err(form());
        }
        let has_port = authority
            .rsplit_once(':')
            .is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        let with_port = match has_port {
            true => authority.to_owned(),
            false => format!("{authority}:80"),
        };
        let address = with_port
            .to_socket_addrs()
            .map_err(|source| InvalidUrl::Resolve {
                url: url.to_owned(),
                source,
            })?
            .next()
            .ok_or_else(form)?;
        Ok(Self {
            authority: authority.to_owned(),
            address,
        })
    }
}

impl From<SocketAddr> for Origin {
    fn from(address: SocketAddr) -> Self {
        Self {
            authority: address.to_string(),
            address,
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "http://{}", self.authority)
    }
}
