//! The admin listener, for whoever runs the host and not for its clients: `/metrics`, `/healthz`, `/readyz`. A thread of
//! its own answers, so that a busy or stuck core does not hide what it counted.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use http::header::{ALLOW, CONTENT_TYPE, HeaderValue};
use http::{Method, Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;

use crate::drain::Drain;
use crate::error::Error;
use crate::metrics::Scrape;

/// How long a client may take for a request's head.
const HEAD_TIME: Duration = Duration::from_secs(10);

/// How many connections are served at a time; more wait.
const CONNECTIONS: usize = 64;

/// A running admin listener. It lives as long as the process.
pub struct Admin {
    pub address: SocketAddr,
    serving: Arc<Serving>,
}

/// The app that is served now; none while one is starting.
#[derive(Default)]
struct Serving(RwLock<Option<(Scrape, Arc<Drain>)>>);

impl Admin {
    /// Listens on `address` and answers from a thread of its own; not ready until an app is.
    pub fn start(address: SocketAddr) -> Result<Self, Error> {
        let failed = |source| Error::AdminListen { address, source };
        let listener = std::net::TcpListener::bind(address).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(failed)?;
        let serving = Arc::new(Serving::default());
        let answering = serving.clone();
        std::thread::Builder::new()
            .name("admin".into())
            .spawn(move || {
                if let Err(error) = runtime.block_on(accept(listener, answering)) {
                    tracing::error!(%error, "the admin listener ended");
                }
            })
            .map_err(failed)?;
        Ok(Admin { address, serving })
    }

    /// Tells of this app from now on.
    pub fn serve(&self, scrape: Scrape, drain: Arc<Drain>) {
        let mut serving = self
            .serving
            .0
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        *serving = Some((scrape, drain));
    }
}

async fn accept(listener: std::net::TcpListener, serving: Arc<Serving>) -> std::io::Result<()> {
    let listener = TcpListener::from_std(listener)?;
    let room = Arc::new(tokio::sync::Semaphore::new(CONNECTIONS));
    loop {
        // The semaphore is never closed.
        let place = room.clone().acquire_owned().await;
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!(%error, "an admin connection was not accepted");
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        let serving = serving.clone();
        tokio::spawn(async move {
            let service = service_fn(|request| {
                let response = serving.answer(&request);
                async move { Ok::<_, Infallible>(response) }
            });
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEAD_TIME)
                .serve_connection(TokioIo::new(stream), service);
            // How it ended matters to its client alone.
            let _ = connection.await;
            drop(place);
        });
    }
}

impl Serving {
    fn answer(&self, request: &Request<Incoming>) -> Response<Full<Bytes>> {
        let serving = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let (status, text) = match (request.uri().path(), &*serving) {
            ("/metrics" | "/healthz" | "/readyz", _)
                if !matches!(*request.method(), Method::GET | Method::HEAD) =>
            {
                (StatusCode::METHOD_NOT_ALLOWED, "GET or HEAD\n".to_owned())
            }
            ("/healthz", _) => (StatusCode::OK, "ok\n".to_owned()),
            ("/readyz", Some((_, drain))) if drain.is_ready() => {
                (StatusCode::OK, "ready\n".to_owned())
            }
            ("/readyz", Some(_)) => (StatusCode::SERVICE_UNAVAILABLE, "draining\n".to_owned()),
            ("/readyz" | "/metrics", None) => {
                (StatusCode::SERVICE_UNAVAILABLE, "starting\n".to_owned())
            }
            ("/metrics", Some((scrape, _))) => (StatusCode::OK, scrape.text()),
            _ => (
                StatusCode::NOT_FOUND,
                "there is /metrics, /healthz and /readyz\n".to_owned(),
            ),
        };
        let kind = match (status, request.uri().path()) {
            (StatusCode::OK, "/metrics") => Scrape::CONTENT_TYPE,
            _ => "text/plain; charset=utf-8",
        };
        let mut response = Response::new(Full::from(text));
        *response.status_mut() = status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        if status == StatusCode::METHOD_NOT_ALLOWED {
            headers.insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        }
        response
    }
}
