//! Accepts connections, bounds them, serves HTTP/1 on each, and lets them end in order.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::Response;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;

use crate::listener::{Connection, Listener, Stream};
use crate::metrics::Metrics;
use crate::pace::{HeadBegun, Paced};
use crate::quota::Quota;
use crate::service::Service;

/// Longer than any client keeps a connection in its pool, so that it is the client who closes it
/// and no request meets a closing connection.
const IDLE: Duration = Duration::from_secs(120);
/// Request line and headers together.
const LARGEST_HEAD: usize = 16 * 1024;
const MOST_HEADERS: usize = 64;
const HANDSHAKE: Duration = Duration::from_secs(5);
/// For telling a client that there is no room for it.
const FAREWELL: Duration = Duration::from_millis(500);

/// What a connection past the bound is told.
const NO_ROOM: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\n\
    content-length: 0\r\nconnection: close\r\n\r\n";

pub struct Server {
    pub service: Arc<Service>,
    pub metrics: Arc<Metrics>,
    pub max_connections: usize,
}

impl Server {
    /// Serves until `stop` is done, then lets connections finish, for at most `grace`.
    pub async fn serve(self, listener: Listener, stop: impl Future<Output = ()>, grace: Duration) {
        let room = Arc::new(Semaphore::new(self.max_connections));
        let ending = GracefulShutdown::new();
        let (accept_log, tls_log) = (Quota::default(), Quota::default());
        let mut stop = std::pin::pin!(stop);
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                () = &mut stop => break,
            };
            match accepted {
                Ok(connection) => match Arc::clone(&room).try_acquire_owned() {
                    Ok(permit) => self.spawn(connection, permit, ending.watcher(), &tls_log),
                    Err(_) => refuse(connection),
                },
                // Out of file descriptors, most likely: some time will bring some back.
                Err(error) => {
                    if accept_log.allows("connections that cannot be accepted") {
                        tracing::warn!("cannot accept a connection: {error}");
                    }
                    sleep(Duration::from_millis(100)).await;
                }
            }
        }
        // New clients are refused from here on.
        drop(listener);
        if timeout(grace, ending.shutdown()).await.is_err() {
            tracing::warn!("connections were still busy after {grace:?} and are cut");
        }
    }

    fn spawn(
        &self,
        connection: Connection,
        permit: OwnedSemaphorePermit,
        watcher: Watcher,
        tls_log: &Quota,
    ) {
        let service = Arc::clone(&self.service);
        let metrics = Arc::clone(&self.metrics);
        let tls = self.service.tls().map(|tls| (tls, tls_log.clone()));
        tokio::spawn(async move {
            let _permit = permit;
            metrics.connections.fetch_add(1, Relaxed);
            match (connection, tls) {
                (Connection::Tcp(stream), None) => serve_http(stream, service, watcher).await,
                (Connection::Unix(stream), None) => serve_http(stream, service, watcher).await,
                (Connection::Tcp(stream), Some(tls)) => {
                    serve_tls(stream, tls, service, watcher).await;
                }
                (Connection::Unix(stream), Some(tls)) => {
                    serve_tls(stream, tls, service, watcher).await;
                }
            }
            metrics.connections.fetch_sub(1, Relaxed);
        });
    }
}

/// Tells a client that there is no room.
fn refuse(connection: Connection) {
    tokio::spawn(async move {
        let telling = async {
            match connection {
                Connection::Tcp(stream) => tell_no_room(stream).await,
                Connection::Unix(stream) => tell_no_room(stream).await,
            }
        };
        // A client that does not listen, or has gone already, needs no telling.
        let _ = timeout(FAREWELL, telling).await;
    });
}

/// Reads what the client has sent before letting go, or the kernel resets the connection and the
/// client never sees the answer.
async fn tell_no_room(mut stream: impl Stream) -> std::io::Result<()> {
    stream.write_all(NO_ROOM).await?;
    stream.shutdown().await?;
    let mut unread = [0; 1024];
    while stream.read(&mut unread).await? > 0 {}
    Ok(())
}

async fn serve_tls(
    stream: impl Stream + 'static,
    (tls, log): (TlsAcceptor, Quota),
    service: Arc<Service>,
    watcher: Watcher,
) {
    match timeout(HANDSHAKE, tls.accept(stream)).await {
        Ok(Ok(stream)) => serve_http(stream, service, watcher).await,
        _ if !log.allows("TLS handshakes that failed") => {}
        Ok(Err(error)) => tracing::info!("TLS handshake failed: {error}"),
        Err(_) => tracing::info!("TLS handshake took longer than {HANDSHAKE:?}"),
    }
}

async fn serve_http(stream: impl Stream + 'static, service: Arc<Service>, watcher: Watcher) {
    let head = HeadBegun::default();
    let io = TokioIo::new(Paced::new(stream, head.clone()));
    let handler = service_fn(move |request| {
        head.ended();
        let service = Arc::clone(&service);
        async move {
            let answer = service.answer(&request).await;
            Ok::<Response<Full<Bytes>>, Infallible>(answer.into())
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(IDLE)
        .max_buf_size(LARGEST_HEAD)
        .max_headers(MOST_HEADERS)
        // A client may close its side once it has asked; it still gets its answer.
        .half_close(true)
        .serve_connection(io, handler);
    // A client that goes away, or dawdles, or speaks something else, is no fault of ours.
    if let Err(error) = watcher.watch(connection).await {
        tracing::debug!("connection: {error}");
    }
}
