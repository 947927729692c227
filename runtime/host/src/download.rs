//! Downloads of components whose `source` is a URL with a digest. The caller checks the digest; here a download is held
//! to a size, a time and a number of redirects. HTTP/1.1, without a proxy.

use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, HOST, LOCATION, USER_AGENT};
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Empty, Limited};
use hyper::body::{Body, Incoming};
use hyper::client::conn::http1;
use hyper::rt::{Read, Write};
use hyper_util::rt::TokioIo;
use levelfield_app::Fetch;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;
use tracing::Level;
use url::Url;

use crate::outbound::tls;

/// Bytes of a component: many times the largest one in the field.
const SIZE_LIMIT: usize = 256 << 20;

const REDIRECTS: usize = 5;

const CONNECT_TIME: Duration = Duration::from_secs(10);

/// From a request to its response's head.
const HEAD_TIME: Duration = Duration::from_secs(30);

const WHOLE_TIME: Duration = Duration::from_secs(600);

/// Gets a URL's body over HTTP or HTTPS.
pub struct Download;

impl Fetch for Download {
    fn fetch(&self, url: &str) -> Result<Vec<u8>, String> {
        let url = Url::parse(url).map_err(|error| format!("it is no URL: {error}"))?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| error.to_string())?;
        crate::say(Level::INFO, &format!("Downloading {url}"));
        runtime.block_on(async {
            tokio::time::timeout(WHOLE_TIME, get(url))
                .await
                .map_err(|_| format!("it took longer than {WHOLE_TIME:?}"))?
        })
    }
}

/// Follows redirects to the body.
async fn get(mut url: Url) -> Result<Vec<u8>, String> {
    for _ in 0..=REDIRECTS {
        let response = ask(&url).await?;
        let status = response.status();
        if !status.is_redirection() {
            return match status {
                StatusCode::OK => read(response.into_body()).await,
                status => Err(format!("{url} answered {status}")),
            };
        }
        let location = response.headers().get(LOCATION);
        let location = location
            .and_then(|location| location.to_str().ok())
            .ok_or_else(|| format!("{url} answered {status} without a location"))?;
        let next = url.join(location).map_err(|error| {
            format!("{url} redirects to `{location}`, which is no URL: {error}")
        })?;
        if url.scheme() == "https" && next.scheme() != "https" {
            return Err(format!("{url} redirects to {next}, away from HTTPS"));
        }
        url = next;
    }
    Err(format!("it redirects more than {REDIRECTS} times"))
}

/// Sends one request on a connection of its own and waits for the response's head.
async fn ask(url: &Url) -> Result<http::Response<Incoming>, String> {
    let host = url.host_str().ok_or("it names no host")?;
    let (tls, default_port) = match url.scheme() {
        "http" => (false, 80),
        "https" => (true, 443),
        other => return Err(format!("{other} is neither http nor https")),
    };
    let port = url.port().unwrap_or(default_port);
    let connect = TcpStream::connect((host.trim_matches(['[', ']']), port));
    let stream = tokio::time::timeout(CONNECT_TIME, connect)
        .await
        .map_err(|_| format!("no connection to {host}:{port} in {CONNECT_TIME:?}"))?
        .map_err(|error| format!("{host}:{port}: {error}"))?;
    let path = &url[url::Position::BeforePath..url::Position::AfterQuery];
    let authority = &url[url::Position::BeforeHost..url::Position::AfterPort];
    let request = Request::get(path)
        .header(HOST, authority)
        .header(
            USER_AGENT,
            concat!("levelfield-host/", env!("CARGO_PKG_VERSION")),
        )
        .header(ACCEPT, "application/wasm, */*")
        .body(Empty::new())
        .map_err(|error| error.to_string())?;
    let response = async {
        if !tls {
            return send(TokioIo::new(stream), request).await;
        }
        let name = ServerName::try_from(host.trim_matches(['[', ']']).to_owned())
            .map_err(|error| error.to_string())?;
        let stream = TlsConnector::from(tls::config())
            .connect(name, stream)
            .await
            .map_err(|error| format!("TLS: {error}"))?;
        send(TokioIo::new(stream), request).await
    };
    tokio::time::timeout(HEAD_TIME, response)
        .await
        .map_err(|_| format!("no answer from {host}:{port} in {HEAD_TIME:?}"))?
}

async fn send<S>(
    stream: S,
    request: Request<Empty<Bytes>>,
) -> Result<http::Response<Incoming>, String>
where
    S: Read + Write + Unpin + Send + 'static,
{
    let (mut sender, connection) = http1::handshake(stream)
        .await
        .map_err(|error| error.to_string())?;
    // Its end is told to whoever reads from it.
    tokio::spawn(connection);
    sender
        .send_request(request)
        .await
        .map_err(|error| error.to_string())
}

async fn read(body: Incoming) -> Result<Vec<u8>, String> {
    let too_large = || format!("it has more than {SIZE_LIMIT} bytes");
    if body.size_hint().lower() > SIZE_LIMIT as u64 {
        return Err(too_large());
    }
    match Limited::new(body, SIZE_LIMIT).collect().await {
        Ok(body) => Ok(body.to_bytes().into()),
        Err(error) if error.is::<http_body_util::LengthLimitError>() => Err(too_large()),
        Err(error) => Err(format!("it broke off: {error}")),
    }
}
