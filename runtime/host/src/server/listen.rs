//! Where the host listens: a TCP address, once for each core, or a Unix socket that the cores share; each failure named
//! with the way out.

use std::fmt;
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use socket2::{Domain, Protocol, SockAddr, Socket, Type};

use crate::error::Error;

const BACKLOG: i32 = 4096;

/// How many ports `--find-free-port` tries.
const PORTS_TRIED: u16 = 10;

/// What `--listen` names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    Tcp(SocketAddr),
    Unix(PathBuf),
}

impl FromStr for Address {
    type Err = String;

    /// Resolves a name; 127.0.0.1 comes first where it has several addresses.
    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(path) = text.strip_prefix("unix:") {
            if path.is_empty() {
                return Err("unix: needs the path of a socket".into());
            }
            return Ok(Address::Unix(path.into()));
        }
        let mut addresses: Vec<SocketAddr> = text
            .to_socket_addrs()
            .map_err(|error| format!("it must be host:port or unix:PATH ({error})"))?
            .collect();
        addresses.sort_by_key(|address| !address.is_ipv4());
        let first = addresses.first().copied();
        first
            .map(Address::Tcp)
            .ok_or_else(|| "the name has no address".into())
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Tcp(address) => address.fmt(f),
            Address::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

/// A listening socket, for one core.
#[derive(Debug)]
pub enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener),
}

impl Listener {
    /// The same socket again.
    pub fn try_clone(&self) -> io::Result<Self> {
        match self {
            Listener::Tcp(listener) => listener.try_clone().map(Listener::Tcp),
            Listener::Unix(listener) => listener.try_clone().map(Listener::Unix),
        }
    }
}

/// An address with its listeners, one for each core.
#[derive(Debug)]
pub struct Bound {
    /// With the port that was chosen.
    pub address: Address,
    pub listeners: Vec<Listener>,
    /// To be kept for as long as the host serves.
    pub file: Option<SocketFile>,
}

/// Removes a Unix socket's file when it is dropped.
#[derive(Debug)]
pub struct SocketFile(PathBuf);

impl Drop for SocketFile {
    fn drop(&mut self) {
        // Somebody may have removed it before; then there is nobody to tell.
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Binds `address` for each of `cores`. With `find_free` a taken port makes way for one of those after it.
pub fn bind(address: &Address, cores: usize, find_free: bool) -> Result<Bound, Error> {
    match address {
        Address::Tcp(address) => bind_tcp(*address, cores, if find_free { PORTS_TRIED } else { 1 }),
        Address::Unix(path) => bind_unix(path, cores),
    }
}

fn bind_tcp(address: SocketAddr, cores: usize, ports: u16) -> Result<Bound, Error> {
    let mut taken = Error::PortTaken { address };
    for offset in 0..ports {
        let Some(port) = address.port().checked_add(offset) else {
            break;
        };
        match bind_port(SocketAddr::new(address.ip(), port), cores) {
            Err(error @ Error::PortTaken { .. }) => taken = error,
            other => return other,
        }
    }
    Err(taken)
}

/// A port of 0 is chosen by the system, the same for all cores.
fn bind_port(address: SocketAddr, cores: usize) -> Result<Bound, Error> {
    let failed = |source: io::Error| match source.kind() {
        ErrorKind::AddrInUse => Error::PortTaken { address },
        _ => Error::Listen {
            address: Address::Tcp(address),
            source,
        },
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
    Ok(Bound {
        address: Address::Tcp(address),
        listeners: listeners.into_iter().map(Listener::Tcp).collect(),
        file: None,
    })
}

fn bind_unix(path: &Path, cores: usize) -> Result<Bound, Error> {
    let address = Address::Unix(path.to_owned());
    let failed = |source| Error::Listen {
        address: address.clone(),
        source,
    };
    if let Ok(metadata) = path.symlink_metadata() {
        if !metadata.file_type().is_socket() {
            return Err(Error::NotASocket {
                path: path.to_owned(),
            });
        }
        match UnixStream::connect(path) {
            Ok(_) => {
                return Err(Error::SocketTaken {
                    path: path.to_owned(),
                });
            }
            // Nobody listens: left over from a host that was killed.
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
                std::fs::remove_file(path).map_err(failed)?;
            }
            Err(error) => return Err(failed(error)),
        }
    }
    let listener = UnixListener::bind(path).map_err(failed)?;
    let file = SocketFile(path.to_owned());
    listener.set_nonblocking(true).map_err(failed)?;
    let clones = (0..cores).map(|_| listener.try_clone().map(Listener::Unix));
    Ok(Bound {
        listeners: clones.collect::<Result<_, _>>().map_err(failed)?,
        address: address.clone(),
        file: Some(file),
    })
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
    fn an_address_is_a_host_and_port_or_a_socket() {
        let parse = |text: &str| text.parse::<Address>();
        let local = Address::Tcp("127.0.0.1:80".parse().unwrap());
        assert_eq!(parse("127.0.0.1:80"), Ok(local.clone()));
        assert_eq!(parse("localhost:80"), Ok(local), "127.0.0.1 is preferred");
        assert_eq!(parse("unix:/run/x"), Ok(Address::Unix("/run/x".into())));
        for wrong in ["", "80", "127.0.0.1", "unix:", "/run/x"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn every_core_has_the_port_and_nobody_else_can() {
        let any = "127.0.0.1:0".parse().unwrap();
        let bound = bind(&any, 3, false).unwrap();
        let address = |listener: &Listener| match listener {
            Listener::Tcp(listener) => Address::Tcp(listener.local_addr().unwrap()),
            Listener::Unix(_) => unreachable!("a TCP address was bound"),
        };
        assert_eq!(bound.listeners.len(), 3);
        assert!(bound.listeners.iter().all(|l| address(l) == bound.address));
        assert!(matches!(
            bind(&bound.address, 1, false),
            Err(Error::PortTaken { .. })
        ));
        assert_ne!(
            bind(&bound.address, 1, true).unwrap().address,
            bound.address
        );
    }
}
