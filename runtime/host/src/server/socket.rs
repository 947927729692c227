//! Accepted connections of either kind, and who is at the other end.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};

use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};

use super::listen;
use crate::nodelay;

/// What `spin-client-addr` says where a client has no address, as a Unix socket's has not.
const NOWHERE: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0);

/// A listener within a core's runtime.
pub enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener),
}

/// A connection, before TLS.
pub enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Listener {
    pub fn new(listener: listen::Listener) -> io::Result<Self> {
        match listener {
            listen::Listener::Tcp(listener) => TcpListener::from_std(listener).map(Self::Tcp),
            listen::Listener::Unix(listener) => UnixListener::from_std(listener).map(Self::Unix),
        }
    }

    pub async fn accept(&self) -> io::Result<(Socket, SocketAddr)> {
        match self {
            Self::Tcp(listener) => {
                let (stream, peer) = listener.accept().await?;
                nodelay::send_at_once(&stream);
                Ok((Socket::Tcp(stream), peer))
            }
            Self::Unix(listener) => {
                let (stream, _) = listener.accept().await?;
                Ok((Socket::Unix(stream), NOWHERE))
            }
        }
    }
}
