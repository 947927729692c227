//! Outbound HTTP: what a component may reach, checked once, then sent over a kept connection of this core.

mod connect;
pub mod local;
mod observed;
mod pool;
mod send;
pub mod tls;

use std::collections::HashSet;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use http::HeaderMap;
use http::uri::{Authority, PathAndQuery, Scheme};
use levelfield_app::App;
use levelfield_app::outbound::{AllowedHosts, Denied};
use opentelemetry::trace::SpanContext;
use tracing::Level;

pub use levelfield_app::authority::parse as parse_authority;

pub use self::observed::send;
use crate::limits::Limits;
use crate::message::{Body, Line};
use crate::pipe::BodyError;

/// The longest path with query that a guest may send; longer ones overflow what URIs are made of.
const PATH_LIMIT: usize = 60_000;

/// A request that a guest means to send.
pub struct Outbound {
    pub line: Line,
    pub headers: HeaderMap,
    pub body: Body,
    pub options: Options,
    /// The span of the request that the guest works on.
    pub parent: Option<SpanContext>,
}

/// How long a guest is ready to wait. The host's own limits hold as well.
#[derive(Clone, Debug, Default)]
pub struct Options {
    pub connect: Option<Duration>,
    pub first_byte: Option<Duration>,
    pub between_bytes: Option<Duration>,
}

/// Where the app itself is served, as its requests to `self` say it.
#[derive(Clone, Debug)]
pub struct Origin {
    pub scheme: Scheme,
    pub authority: Authority,
}

/// What one component may do outside, and how.
pub struct Permission {
    pub app: Arc<App>,
    pub index: usize,
    pub limits: Limits,
    pub origin: Origin,
    /// Denied destinations that were told on stderr already.
    told: Mutex<HashSet<String>>,
}

/// Why an outbound request got no response. Both WASI versions have a name for each.
#[derive(Debug, thiserror::Error)]
pub enum SendError {
    #[error("not permitted by allowed_outbound_hosts")]
    Denied,
    #[error("the address is in a blocked network")]
    Prohibited,
    #[error("the request has no valid URI")]
    UriInvalid,
    #[error("not HTTP: {0}")]
    Protocol(String),
    #[error("name not resolved: {0}")]
    Dns(String),
    #[error("connection refused")]
    Refused,
    #[error("not reachable: {0}")]
    Unreachable(String),
    #[error("no connection in time")]
    ConnectTimeout,
    #[error("no response in time")]
    ResponseTimeout,
    #[error("the connection ended")]
    Terminated,
    #[error("too many connections to this host")]
    LimitReached,
    #[error("TLS: {0}")]
    Tls(String),
    #[error("certificate: {0}")]
    Certificate(String),
    #[error(transparent)]
    Body(#[from] BodyError),
}

impl Permission {
    pub fn new(app: Arc<App>, index: usize, limits: Limits, origin: Origin) -> Self {
        Permission {
            app,
            index,
            limits,
            origin,
            told: Mutex::default(),
        }
    }

    /// Checks a destination against the component's `allowed_outbound_hosts`; a refusal is told once on stderr.
    fn check(&self, scheme: &str, host: &str, port: Option<u16>) -> Result<(), SendError> {
        self.ask(|allowed| allowed.check(scheme, host, port))
    }

    /// Whether the component may send requests to the app it belongs to.
    fn check_self(&self, scheme: &str) -> Result<(), SendError> {
        self.ask(|allowed| allowed.check_self(scheme))
    }

    /// Whether the component may open a socket of `scheme`, `tcp` or `udp`, to `address`.
    pub fn permits_socket(&self, scheme: &str, address: SocketAddr) -> bool {
        !self.app.blocked_networks.blocks(address.ip())
            && self
                .check(scheme, &address.ip().to_string(), Some(address.port()))
                .is_ok()
    }

    /// Whether the host's configuration keeps every component from `address`.
    fn blocks(&self, address: IpAddr) -> bool {
        self.app.blocked_networks.blocks(address)
    }

    fn ask(
        &self,
        question: impl FnOnce(&AllowedHosts) -> Result<(), Denied>,
    ) -> Result<(), SendError> {
        let component = &self.app.components[self.index];
        let Err(denied) = question(&component.allowed_hosts) else {
            return Ok(());
        };
        let mut told = self.told.lock().unwrap_or_else(|e| e.into_inner());
        // Bounded, so that a guest that tries many hosts fills neither memory nor the log.
        if told.len() < 100 && told.insert(denied.entry().to_owned()) {
            let line = format!("component `{}`: {denied}", component.id);
            crate::say(Level::WARN, &line);
        }
        Err(SendError::Denied)
    }
}

/// A path as a guest may set it: it starts with `/` or `?` or is empty, so that it never names another host.
pub fn parse_path(path: &str) -> Option<PathAndQuery> {
    if path.len() > PATH_LIMIT || !(path.is_empty() || path.starts_with(['/', '?'])) {
        return None;
    }
    // The fragment is the client's own business and no part of a request.
    if path.contains('#') {
        return None;
    }
    if path.is_empty() {
        // What goes over the wire is never empty.
        return Some(PathAndQuery::from_static("/"));
    }
    path.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_never_names_another_host() {
        for bad in ["http://evil/", "*", "x", "//evil#", "evil:80"] {
            assert!(parse_path(bad).is_none(), "{bad}");
        }
        for good in ["/", "", "?q", "/a?b=c", "//double"] {
            assert!(parse_path(good).is_some(), "{good}");
        }
        let long = format!("/{}", "x".repeat(200_000));
        assert!(parse_path(&long).is_none());
    }
}
