//! How spans reach the collector: one POST on a connection of its own for each batch, from the exporter's thread, which
//! is none of the cores'.

use std::time::Duration;

use http::header::{HOST, HeaderValue};
use http_body_util::{BodyExt, Full, Limited};
use hyper::client::conn::http1;
use hyper::rt::{Read, Write};
use hyper_util::rt::TokioIo;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use tokio::net::TcpStream;
use tokio::runtime::Runtime;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;

use crate::outbound::tls;

/// The longest answer that is read.
const ANSWER: usize = 4 << 20;

/// Sends batches.
#[derive(Debug)]
pub struct Client {
    runtime: Runtime,
    timeout: Duration,
}

impl Client {
    /// A client that waits `timeout` for each answer.
    pub fn new(timeout: Duration) -> std::io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        Ok(Client { runtime, timeout })
    }
}

#[wasmtime_wasi::async_trait]
impl HttpClient for Client {
    /// Blocks: the exporter has a thread for it.
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        self.runtime
            .block_on(async { tokio::time::timeout(self.timeout, post(request)).await })
            .map_err(|_| "the collector did not answer in time")?
    }
}

async fn post(mut request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
    let authority = request.uri().authority().ok_or("no host")?.clone();
    let tls = request.uri().scheme_str() == Some("https");
    let host = authority.host().trim_matches(['[', ']']).to_owned();
    let port = authority.port_u16().unwrap_or(if tls { 443 } else { 80 });
    let path = request
        .uri()
        .path_and_query()
        .map_or("/", |path| path.as_str())
        .parse()?;
    *request.uri_mut() = path;
    let value = HeaderValue::from_str(authority.as_str())?;
    request.headers_mut().insert(HOST, value);
    let stream = TcpStream::connect((host.as_str(), port)).await?;
    if !tls {
        return exchange(TokioIo::new(stream), request).await;
    }
    let name = ServerName::try_from(host)?;
    let stream = TlsConnector::from(tls::config())
        .connect(name, stream)
        .await?;
    exchange(TokioIo::new(stream), request).await
}

async fn exchange<S>(stream: S, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError>
where
    S: Read + Write + Unpin + Send + 'static,
{
    let (mut sender, connection) = http1::handshake(stream).await?;
    // It ends when the sender is dropped; how, the sender is told.
    tokio::spawn(connection);
    let response = sender.send_request(request.map(Full::new)).await?;
    let (parts, body) = response.into_parts();
    let body = Limited::new(body, ANSWER).collect().await?.to_bytes();
    Ok(Response::from_parts(parts, body))
}
