//! The host's HTTP stack around a handler that is native code: what a benchmark takes away to see what the sandbox
//! costs. `native_handler ADDRESS [SIDECAR]` answers `/helloWorld`, and everything else as the sidecar at `host:port`
//! does, over pooled connections.

use std::net::TcpListener;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::uri::{Authority, Scheme};
use http::{StatusCode, Uri};
use http_body_util::{BodyExt, Empty, Full};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::client::legacy::{Client, connect::HttpConnector};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;

/// Runs a connection's futures on this thread, as the host does.
#[derive(Clone, Copy)]
struct ThisCore;

impl<F: Future + 'static> hyper::rt::Executor<F> for ThisCore {
    fn execute(&self, future: F) {
        tokio::task::spawn_local(async move {
            future.await;
        });
    }
}

/// Where the sidecar is, and the connections to it.
#[derive(Clone)]
struct Sidecar {
    client: Client<HttpConnector, Empty<Bytes>>,
    authority: Option<Authority>,
}

type Answer = Response<Full<Bytes>>;

async fn answer(
    sidecar: Sidecar,
    request: Request<hyper::body::Incoming>,
) -> anyhow::Result<Answer> {
    if request.uri().path() != "/helloWorld" {
        return proxy(sidecar, request.uri()).await;
    }
    let mut response = Response::new(Full::from(r#"{"message":"Hello world!"}"#));
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(response)
}

async fn proxy(sidecar: Sidecar, asked: &Uri) -> anyhow::Result<Answer> {
    let Some(authority) = sidecar.authority else {
        let mut response = Response::new(Full::default());
        *response.status_mut() = StatusCode::NOT_FOUND;
        return Ok(response);
    };
    let mut uri = asked.clone().into_parts();
    uri.scheme = Some(Scheme::HTTP);
    uri.authority = Some(authority);
    let (parts, body) = sidecar
        .client
        .get(Uri::from_parts(uri)?)
        .await?
        .into_parts();
    let mut response = Response::new(Full::new(body.collect().await?.to_bytes()));
    *response.status_mut() = parts.status;
    if let Some(content_type) = parts.headers.get(CONTENT_TYPE) {
        response
            .headers_mut()
            .insert(CONTENT_TYPE, content_type.clone());
    }
    Ok(response)
}

fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let address = arguments.next().unwrap_or_else(|| "127.0.0.1:0".into());
    let authority = arguments.next().map(|a| a.parse()).transpose()?;
    let listener = TcpListener::bind(address)?;
    listener.set_nonblocking(true)?;
    println!("Serving http://{}", listener.local_addr()?);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    tokio::task::LocalSet::new().block_on(&runtime, async {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        let sidecar = Sidecar {
            client: Client::builder(TokioExecutor::new()).build(connector),
            authority,
        };
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            let sidecar = sidecar.clone();
            tokio::task::spawn_local(async move {
                let mut builder = auto::Builder::new(ThisCore);
                builder
                    .http1()
                    .timer(TokioTimer::new())
                    .header_read_timeout(std::time::Duration::from_secs(30));
                let service = service_fn(move |request| answer(sidecar.clone(), request));
                // A client that leaves ends its connection; there is nobody to tell.
                let _ = builder
                    .serve_connection(TokioIo::new(stream), service)
                    .await;
            });
        }
    })
}
