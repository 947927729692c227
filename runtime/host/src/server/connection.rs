//! Connections of one core: accepting them, with TLS where the host has a certificate, speaking HTTP/1.1 or HTTP/2 on
//! each, and letting go of them when the host drains.

use std::cell::Cell;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use hyper::rt::Executor;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Notify;

use super::peer::Peer;
use super::socket::{self, Socket};
use super::{Listener, Service, request};
use crate::core::Core;
use crate::metrics;

/// How long to wait when the process is out of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// How long a drain waits for the first request of a connection that was accepted just before.
const FIRST_REQUEST: Duration = Duration::from_millis(500);

/// What a core's connections have in common.
pub struct Connections {
    pub service: Arc<Service>,
    pub core: Rc<Core>,
    open: Cell<usize>,
    closed: Notify,
}

/// Runs futures where they are made: on this core.
#[derive(Clone, Copy)]
struct ThisCore;

impl<F: Future + 'static> Executor<F> for ThisCore {
    fn execute(&self, future: F) {
        tokio::task::spawn_local(async move {
            future.await;
        });
    }
}

/// Accepts until the host drains, then waits for the open connections for as long as the drain lasts.
pub async fn accept(service: Arc<Service>, core: Rc<Core>, listener: Listener) {
    let listener = match socket::Listener::new(listener) {
        Ok(listener) => listener,
        Err(error) => {
            tracing::error!(%error, "a listener cannot be used");
            return;
        }
    };
    let connections = Rc::new(Connections {
        service: service.clone(),
        core,
        open: Cell::new(0),
        closed: Notify::new(),
    });
    let mut draining = pin!(service.drain.draining());
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut draining => break,
        };
        match accepted {
            Ok((socket, peer)) => {
                // Counted here already: a drain must not miss one that has not begun.
                let open = Open::new(connections.clone());
                tokio::task::spawn_local(serve(open, socket, peer));
            }
            Err(error) => {
                tracing::warn!(%error, "a connection was not accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    drop(listener);
    let all_closed = async {
        while connections.open.get() > 0 {
            connections.closed.notified().await;
        }
    };
    tokio::select! {
        () = all_closed => {}
        () = service.drain.over() => {}
    }
}

/// Serves one connection to its end.
async fn serve(open: Open, socket: Socket, peer: SocketAddr) {
    match socket {
        Socket::Tcp(stream) => secure(open, stream, peer).await,
        Socket::Unix(stream) => secure(open, stream, peer).await,
    }
}

/// Shakes hands first where the host has a certificate; a client may take as long for it as for a request's head.
async fn secure<S>(open: Open, stream: S, peer: SocketAddr)
where
    S: AsyncRead + AsyncWrite + Unpin + 'static,
{
    let service = open.0.service.clone();
    let Some(tls) = &service.tls else {
        return speak(open, stream, peer).await;
    };
    let pause = service.limits.client_pause;
    match tokio::time::timeout(pause, tls.accept(stream)).await {
        Ok(Ok(stream)) => speak(open, stream, peer).await,
        Ok(Err(error)) => tracing::debug!(%peer, %error, "TLS"),
        Err(_) => tracing::debug!(%peer, "no TLS handshake in time"),
    }
}

/// Speaks HTTP on a connection to its end.
async fn speak<S>(open: Open, stream: S, peer: SocketAddr)
where
    S: AsyncRead + AsyncWrite + Unpin + 'static,
{
    let connections = open.0.clone();
    let limits = &connections.service.limits;
    let mut builder = auto::Builder::new(ThisCore);
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.client_pause)
        .max_buf_size(limits.request_head.max(8192));
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_header_list_size(u32::try_from(limits.request_head).unwrap_or(u32::MAX))
        .max_concurrent_streams(256);
    let for_requests = connections.clone();
    let client = Rc::new(Peer::new(peer));
    let asked = Rc::new(Notify::new());
    let first = asked.clone();
    let service = service_fn(move |request| {
        let connections = for_requests.clone();
        let client = client.clone();
        // Kept for a drain that comes later: `notified` returns at once then.
        asked.notify_one();
        async move { Ok::<_, Infallible>(request::answer(&connections, &client, request).await) }
    });
    let mut connection = pin!(builder.serve_connection(TokioIo::new(stream), service));
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = connections.service.drain.draining() => {
            // A first request that is on its way would meet a reset.
            let early = tokio::select! {
                ended = connection.as_mut() => Some(ended),
                () = first.notified() => None,
                () = tokio::time::sleep(FIRST_REQUEST) => None,
            };
            match early {
                Some(ended) => ended,
                None => {
                    connection.as_mut().graceful_shutdown();
                    connection.await
                }
            }
        }
    };
    if let Err(error) = ended {
        // Clients leave, and send what is no HTTP: nothing that somebody here could mend.
        tracing::debug!(%peer, %error, "connection ended");
    }
}

/// Counts a connection as open until it is dropped.
struct Open(Rc<Connections>);

impl Open {
    fn new(connections: Rc<Connections>) -> Self {
        connections.open.set(connections.open.get() + 1);
        metrics::here(|core| {
            core.connections.one();
            core.connections_accepted.one();
        });
        Open(connections)
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.open.set(self.0.open.get() - 1);
        metrics::here(|core| core.connections.one_less());
        self.0.closed.notify_one();
    }
}
