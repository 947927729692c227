//! One outbound request from check to response head.

use std::sync::Arc;
use std::time::Duration;

use http::header::{HOST, HeaderValue};
use http::uri::{Authority, PathAndQuery, Scheme};
use http::{Request, Uri};

use super::pool::{Key, checkout};
use super::{Outbound, Permission, SendError, local};
use crate::headers::is_forbidden;
use crate::message::{Body, Response};
use crate::metrics::Held;

/// The host name of a request to the app itself.
const SELF: &str = "self.alt";

/// Sends `request` if the component may, and waits for the response's head.
pub async fn deliver(
    permission: Arc<Permission>,
    request: Outbound,
) -> Result<Response, SendError> {
    let scheme = request.line.scheme.clone().unwrap_or(Scheme::HTTP);
    let tls = match scheme.as_str() {
        "http" => false,
        "https" => true,
        other => return Err(SendError::Protocol(format!("scheme {other}"))),
    };
    let authority = match request.line.authority.clone() {
        Some(authority) if authority.host() != SELF => authority,
        _ => {
            permission.check_self(scheme.as_str())?;
            return Box::pin(local::send_to_self(&permission, request)).await;
        }
    };
    let host = authority.host().trim_matches(['[', ']']).to_owned();
    permission.check(scheme.as_str(), &host, authority.port_u16())?;
    if let Some(component) = permission.app.chained(authority.host()) {
        return Box::pin(local::send(component, request, authority)).await;
    }

    let limits = &permission.limits;
    let wait = |asked: Option<Duration>, limit: Duration| asked.map_or(limit, |a| a.min(limit));
    let connect = wait(request.options.connect, limits.outbound_connect);
    let first_byte = wait(request.options.first_byte, limits.outbound_first_byte);
    let between_bytes = wait(request.options.between_bytes, limits.outbound_between_bytes);
    let key = Key {
        tls,
        port: authority.port_u16().unwrap_or(if tls { 443 } else { 80 }),
        host,
    };

    let mut wire = wire_request(request, &authority)?;
    loop {
        let mut lease = checkout(&key, &permission, connect).await?;
        let sending = lease.connection.try_send_request(wire);
        let sent = tokio::time::timeout(first_byte, sending)
            .await
            .map_err(|_| SendError::ResponseTimeout)?;
        match sent {
            Ok(response) => {
                let lent = lease.put_back();
                return Ok(response_from(response, between_bytes, lent));
            }
            // A kept connection may have been closed by the other side meanwhile; nothing was sent, so try anew.
            Err(mut failed) => match failed.take_message() {
                Some(unsent) if lease.reused => wire = unsent,
                _ => return Err(hyper_error(&failed.into_error())),
            },
        }
    }
}

/// The request as it goes over the wire: path only, `host` from the authority, which was checked, and nothing else.
fn wire_request(request: Outbound, authority: &Authority) -> Result<Request<Body>, SendError> {
    let path = path(request.line.path)?;
    let mut wire = Request::new(request.body.settle()?);
    *wire.method_mut() = request.line.method;
    *wire.uri_mut() = Uri::from(path);
    *wire.headers_mut() = request.headers;
    let host = HeaderValue::from_str(authority.as_str()).map_err(|_| SendError::UriInvalid)?;
    wire.headers_mut().insert(HOST, host);
    Ok(wire)
}

/// The path as it is sent: never empty.
pub(super) fn path(path: Option<PathAndQuery>) -> Result<PathAndQuery, SendError> {
    match path {
        Some(path) if path.as_str().starts_with('/') => Ok(path),
        Some(path) if path.as_str().starts_with('?') => format!("/{path}")
            .parse()
            .map_err(|_| SendError::UriInvalid),
        _ => Ok(PathAndQuery::from_static("/")),
    }
}

fn response_from(
    response: hyper::Response<hyper::body::Incoming>,
    pause: Duration,
    lent: Held,
) -> Response {
    let (mut parts, body) = response.into_parts();
    let connection: Vec<_> = parts
        .headers
        .keys()
        .filter(|name| is_forbidden(name))
        .cloned()
        .collect();
    for name in connection {
        parts.headers.remove(name);
    }
    Response {
        status: parts.status,
        headers: parts.headers,
        body: Body::from_wire(body, u64::MAX, pause).with_held(lent),
    }
}

fn hyper_error(error: &hyper::Error) -> SendError {
    if let Some(body) = std::error::Error::source(error)
        .and_then(|source| source.downcast_ref::<crate::pipe::BodyError>())
    {
        return SendError::Body(body.clone());
    }
    if error.is_parse() {
        return SendError::Protocol(error.to_string());
    }
    SendError::Terminated
}
