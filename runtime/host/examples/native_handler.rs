//! The host's HTTP stack around a handler that is native code: what a benchmark takes away to see what the sandbox costs.

use std::convert::Infallible;
use std::net::TcpListener;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue};
use http_body_util::Full;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
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

async fn hello(_: Request<hyper::body::Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let body = Bytes::from_static(br#"{"message":"Hello world!"}"#);
    let mut response = Response::new(Full::new(body));
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(response)
}

fn main() -> anyhow::Result<()> {
    let address = std::env::args()
        .nth(1)
        .unwrap_or_else(|| "127.0.0.1:0".into());
    let listener = TcpListener::bind(address)?;
    listener.set_nonblocking(true)?;
    println!("Serving http://{}", listener.local_addr()?);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    tokio::task::LocalSet::new().block_on(&runtime, async {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            tokio::task::spawn_local(async move {
                let mut builder = auto::Builder::new(ThisCore);
                builder
                    .http1()
                    .timer(TokioTimer::new())
                    .header_read_timeout(std::time::Duration::from_secs(30));
                // A client that leaves ends its connection; there is nobody to tell.
                let _ = builder
                    .serve_connection(TokioIo::new(stream), service_fn(hello))
                    .await;
            });
        }
    })
}
