//! TCP connections that send at once, accepted and made.

use std::io;
use std::net::SocketAddr;

use tokio::net::TcpStream;

/// Sends what is written at once, not when the peer has acknowledged what was written before: that would cost 40 ms a
/// message on a kept connection.
pub fn send_at_once(stream: &TcpStream) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "TCP_NODELAY");
    }
}

/// Connects to `address`.
pub async fn connect(address: SocketAddr) -> io::Result<TcpStream> {
    let stream = TcpStream::connect(address).await?;
    send_at_once(&stream);
    Ok(stream)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_accepted_and_what_is_connected_sends_at_once() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (connected, accepted) = tokio::join!(connect(address), listener.accept());
        let (connected, accepted) = (connected.unwrap(), accepted.unwrap().0);
        send_at_once(&accepted);
        assert!(connected.nodelay().unwrap() && accepted.nodelay().unwrap());
    }
}
