//! Listening sockets: the same address once for each core, with a plain error when it is taken.

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpListener};

use socket2::{Domain, Protocol, SockAddr, Socket, Type};

use crate::error::Error;

const BACKLOG: i32 = 4096;

/// How many ports `--find-free-port` tries.
const PORTS_TRIED: u16 = 10;

/// Binds `address` once for each of `cores`; a port of 0 is chosen by the system, the same for all.
pub fn bind(address: SocketAddr, cores: usize) -> Result<Vec<TcpListener>, Error> {
    let failed = |source: io::Error| match source.kind() {
        ErrorKind::AddrInUse => Error::PortTaken { address },
        _ => Error::Listen { address, source },
    };
    let first = first(address).map_err(failed)?;
    let address = first.local_addr().map_err(failed)?;
    let mut listeners = vec![first];
    while listeners.len() < cores {
        let next = match another(address) {
            Ok(listener) => listener,
            // Without SO_REUSEPORT cores take turns at one socket.
            Err(_) => listeners[0].try_clone().map_err(failed)?,
        };
        listeners.push(next);
    }
    Ok(listeners)
}

/// Like [`bind`], and goes on to the following ports when one is taken.
pub fn bind_free(address: SocketAddr, cores: usize) -> Result<Vec<TcpListener>, Error> {
    let mut last = None;
    for offset in 0..PORTS_TRIED {
        let Some(port) = address.port().checked_add(offset) else {
            break;
        };
        match bind(SocketAddr::new(address.ip(), port), cores) {
            Err(Error::PortTaken { address }) => last = Some(Error::PortTaken { address }),
            other => return other,
        }
    }
    Err(last.unwrap_or(Error::PortTaken { address }))
}

/// Bound without sharing, so that a port somebody else has is an error, and shared only then.
fn first(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = socket(address)?;
    socket.bind(&SockAddr::from(address))?;
    socket.set_reuse_port(true)?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

fn another(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = socket(address)?;
    socket.set_reuse_port(true)?;
    socket.bind(&SockAddr::from(address))?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

fn socket(address: SocketAddr) -> io::Result<Socket> {
    let socket = Socket::new(
        Domain::for_address(address),
        Type::STREAM,
        Some(Protocol::TCP),
    )?;
    // Not to wait for connections of a server that just ended.
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_core_has_the_port_and_nobody_else_can() {
        let listeners = bind("127.0.0.1:0".parse().unwrap(), 3).unwrap();
        let address = listeners[0].local_addr().unwrap();
        assert!(listeners.iter().all(|l| l.local_addr().unwrap() == address));
        assert!(matches!(bind(address, 1), Err(Error::PortTaken { .. })));
        assert_ne!(
            bind_free(address, 1).unwrap()[0].local_addr().unwrap(),
            address
        );
    }
}
