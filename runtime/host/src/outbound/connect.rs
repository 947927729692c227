//! A new connection to a destination: resolve, connect, TLS, HTTP/1.1 handshake.

use std::io::ErrorKind;

use hyper::client::conn::http1::{self, SendRequest};
use hyper::rt::{Read, Write};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;

use super::pool::{Key, Place};
use super::{Permission, SendError, tls};
use crate::message::Body;
use crate::nodelay;

/// Connects to `key`. `place` is held for as long as the connection is open.
pub async fn connect(
    key: &Key,
    permission: &Permission,
    place: Place,
) -> Result<SendRequest<Body>, SendError> {
    let stream = dial(key, permission).await?;
    if !key.tls {
        return handshake(TokioIo::new(stream), place).await;
    }
    let name = ServerName::try_from(key.host.clone())
        .map_err(|error| SendError::Tls(error.to_string()))?;
    let stream = TlsConnector::from(tls::config())
        .connect(name, stream)
        .await
        .map_err(tls_error)?;
    handshake(TokioIo::new(stream), place).await
}

/// Tries every address of the name, in the resolver's order.
async fn dial(key: &Key, permission: &Permission) -> Result<TcpStream, SendError> {
    let addresses = tokio::net::lookup_host((key.host.as_str(), key.port))
        .await
        .map_err(|error| SendError::Dns(error.to_string()))?;
    let mut last = SendError::Dns("the name has no address".into());
    for address in addresses {
        // Asked after DNS: any name can be made to point at an internal address.
        if permission.blocks(address.ip()) {
            last = SendError::Prohibited;
            continue;
        }
        match nodelay::connect(address).await {
            Ok(stream) => return Ok(stream),
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
                last = SendError::Refused;
            }
            Err(error) => last = SendError::Unreachable(error.to_string()),
        }
    }
    Err(last)
}

async fn handshake<S>(stream: S, place: Place) -> Result<SendRequest<Body>, SendError>
where
    S: Read + Write + Unpin + 'static,
{
    let (sender, connection) = http1::handshake(stream)
        .await
        .map_err(|error| SendError::Protocol(error.to_string()))?;
    tokio::task::spawn_local(async move {
        // How it ended is told to whoever waits for a response on it.
        let _ = connection.await;
        drop(place);
    });
    Ok(sender)
}

fn tls_error(error: std::io::Error) -> SendError {
    use tokio_rustls::rustls::Error;
    match error.get_ref().and_then(|inner| inner.downcast_ref()) {
        Some(Error::InvalidCertificate(reason)) => SendError::Certificate(format!("{reason:?}")),
        _ => SendError::Tls(error.to_string()),
    }
}
