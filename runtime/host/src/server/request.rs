//! The way of one request, readable from top to bottom in [`answer`].

use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_LENGTH, HOST, HeaderValue, RETRY_AFTER};
use http::uri::{Authority, Scheme};
use http::{HeaderMap, Method, StatusCode, Uri};
use hyper::body::Incoming;
use hyper::{Request, Response};
use levelfield_app::authority::NoHost;
use levelfield_app::headers::{self, RequestFacts};
use levelfield_app::route::{Match, Target};

use super::connection::Connections;
use super::peer::Peer;
use crate::call::CallError;
use crate::limits::Limits;
use crate::message::{self, Body};
use crate::observed::Observed;

/// Why a request gets an answer of the host's own.
enum Refusal {
    PathTooLong,
    BodyTooLarge,
    NoHost(NoHost),
    NotUtf8,
    NoRoute,
    Guest(CallError),
}

/// Answers one request. Never fails: whatever goes wrong is an answer too.
pub async fn answer(
    connections: &Connections,
    peer: &Peer,
    request: Request<Incoming>,
) -> Response<Body> {
    let mut observed = Observed::begin(&request);
    let response = match serve(connections, peer, request, &mut observed).await {
        Ok(response) => response,
        Err(refusal) => {
            if let Refusal::Guest(error) = &refusal {
                observed.fails(error.into());
            }
            refusal.into_response()
        }
    };
    observed.answered(response.status());
    response
}

async fn serve(
    connections: &Connections,
    peer: &Peer,
    request: Request<Incoming>,
    observed: &mut Observed,
) -> Result<Response<Body>, Refusal> {
    let service = &connections.service;
    let limits = &service.limits;
    // First what costs nothing to check, so that abuse is turned away before it costs something.
    check_size(&request, limits)?;
    // Health is asked by balancers that know no host name, and must not depend on the app.
    if let Some(response) =
        super::well_known::answer(&service.app, service.drain.is_ready(), request.uri().path())
    {
        return Ok(response);
    }
    let authority = peer
        .authority(request.uri(), request.headers())
        .map_err(Refusal::NoHost)?;
    let (mut parts, body) = request.into_parts();
    check_headers(&parts.headers)?;
    let sent = std::mem::take(&mut parts.headers);
    let path = parts.uri.path();
    let Some(matched) = service.app.router.lookup(path) else {
        service.hint.no_route(path);
        return Err(Refusal::NoRoute);
    };
    let component = match &matched.route.target {
        Target::Static(answer) => return Ok(answer.response().map(Body::Full)),
        Target::Component(component) => *component,
    };
    let id = &service.components[component].guest.id;
    observed.reaches(component, id, &parts.method, &matched.route.raw);
    let is_head = parts.method == Method::HEAD;
    let body = Body::from_wire(body, limits.request_body, limits.client_pause);
    let mut request = for_guest(
        &parts,
        sent,
        &matched,
        service.scheme.clone(),
        authority,
        peer,
        body,
    )?;
    observed.enter(&mut request);
    let response = connections
        .core
        .call(component, request)
        .await
        .map_err(Refusal::Guest)?;
    from_guest(response, is_head)
}

fn check_size(request: &Request<Incoming>, limits: &Limits) -> Result<(), Refusal> {
    let path = request
        .uri()
        .path_and_query()
        .map_or(0, |p| p.as_str().len());
    if path > limits.path {
        return Err(Refusal::PathTooLong);
    }
    let announced = hyper::body::Body::size_hint(request.body()).lower();
    if announced > limits.request_body {
        return Err(Refusal::BodyTooLarge);
    }
    Ok(())
}

/// Guests get header values as strings in most languages, so that bytes which are no UTF-8 would surprise them.
fn check_headers(headers: &HeaderMap) -> Result<(), Refusal> {
    let readable = |value: &HeaderValue| std::str::from_utf8(value.as_bytes()).is_ok();
    if headers.values().all(readable) {
        Ok(())
    } else {
        Err(Refusal::NotUtf8)
    }
}

/// The request as the component receives it.
fn for_guest(
    parts: &http::request::Parts,
    mut sent: HeaderMap,
    matched: &Match<'_, '_>,
    scheme: Scheme,
    authority: Authority,
    peer: &Peer,
    body: Body,
) -> Result<message::Request, Refusal> {
    let path_and_query = parts.uri.path_and_query();
    sent.remove(CONNECTION);
    if authority.host().ends_with(".spin.internal") {
        sent.remove(HOST);
    }
    headers::strip(&mut sent);
    headers::add(
        &mut sent,
        matched,
        RequestFacts {
            scheme: scheme.as_str(),
            host: Some(authority.as_str()),
            path_and_query: path_and_query.map_or("/", |p| p.as_str()),
            client: &peer.header,
        },
    );
    let mut uri = http::uri::Parts::default();
    uri.scheme = Some(scheme);
    uri.authority = Some(authority);
    uri.path_and_query = Some(
        path_and_query
            .cloned()
            .unwrap_or_else(|| http::uri::PathAndQuery::from_static("/")),
    );
    let mut request = message::Request::new(body);
    *request.method_mut() = parts.method.clone();
    *request.uri_mut() = Uri::from_parts(uri).map_err(|_| Refusal::PathTooLong)?;
    *request.headers_mut() = sent;
    Ok(request)
}

/// The guest's answer as the client receives it.
fn from_guest(response: message::Response, is_head: bool) -> Result<Response<Body>, Refusal> {
    let body = match response.body.settle() {
        Ok(body) => body,
        // An answer to HEAD announces a length and has no body.
        Err(_) if is_head => Body::Empty,
        Err(error) => return Err(Refusal::Guest(CallError::Guest(error.to_string().into()))),
    };
    let mut answer = Response::new(body);
    *answer.status_mut() = response.status;
    *answer.headers_mut() = response.headers;
    Ok(answer)
}

impl Refusal {
    fn into_response(self) -> Response<Body> {
        let (status, text) = match &self {
            Refusal::PathTooLong => (StatusCode::URI_TOO_LONG, "the path is too long\n"),
            Refusal::BodyTooLarge => (StatusCode::PAYLOAD_TOO_LARGE, "the body is too large\n"),
            Refusal::NoHost(reason) => (StatusCode::BAD_REQUEST, reason.reason()),
            Refusal::NotUtf8 => (StatusCode::BAD_REQUEST, "a header value is not UTF-8\n"),
            Refusal::NoRoute => (StatusCode::NOT_FOUND, ""),
            Refusal::Guest(CallError::Timeout) => (StatusCode::GATEWAY_TIMEOUT, ""),
            Refusal::Guest(CallError::Overloaded) => (StatusCode::SERVICE_UNAVAILABLE, ""),
            Refusal::Guest(_) => (StatusCode::INTERNAL_SERVER_ERROR, ""),
        };
        if let Refusal::Guest(error) = &self {
            tracing::warn!(%error, status = status.as_u16(), "request failed");
        }
        let mut response = Response::new(Body::Full(Bytes::from_static(text.as_bytes())));
        *response.status_mut() = status;
        if status == StatusCode::SERVICE_UNAVAILABLE {
            response
                .headers_mut()
                .insert(RETRY_AFTER, HeaderValue::from_static("1"));
        }
        if text.is_empty() {
            response
                .headers_mut()
                .insert(CONTENT_LENGTH, HeaderValue::from_static("0"));
        }
        response
    }
}
