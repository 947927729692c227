//! The `spin-*` headers that a component receives beside those that the client sent.

use std::net::SocketAddr;

use http::{HeaderMap, HeaderName, HeaderValue};

use crate::route::Match;

const PATH_INFO: HeaderName = HeaderName::from_static("spin-path-info");
const FULL_URL: HeaderName = HeaderName::from_static("spin-full-url");
const MATCHED_ROUTE: HeaderName = HeaderName::from_static("spin-matched-route");
const RAW_COMPONENT_ROUTE: HeaderName = HeaderName::from_static("spin-raw-component-route");
const COMPONENT_ROUTE: HeaderName = HeaderName::from_static("spin-component-route");
const BASE_PATH: HeaderName = HeaderName::from_static("spin-base-path");
const CLIENT_ADDR: HeaderName = HeaderName::from_static("spin-client-addr");

/// The header values that depend on the route alone, made once.
#[derive(Debug)]
pub(crate) struct OfRoute {
    matched: HeaderValue,
    raw: HeaderValue,
    component: HeaderValue,
    /// One for each parameter of the route.
    captures: Vec<HeaderName>,
}

impl OfRoute {
    pub(crate) fn new(raw: &str, parameters: &[String]) -> Result<Self, String> {
        let value = |text: &str| {
            value(text)
                .ok_or_else(|| format!("`{}` cannot be sent in a header", text.escape_debug()))
        };
        let absolute = if raw.starts_with('/') {
            raw.to_owned()
        } else {
            format!("/{raw}")
        };
        let captures = parameters.iter().map(|name| {
            let header = format!(
                "spin-path-match-{}",
                name.to_ascii_lowercase().replace('_', "-")
            );
            HeaderName::try_from(header)
                .map_err(|_| format!("`:{name}` has characters that a header's name cannot have"))
        });
        Ok(OfRoute {
            matched: value(absolute.strip_suffix('/').unwrap_or(&absolute))?,
            raw: value(raw)?,
            component: value(raw.strip_suffix("/...").unwrap_or(raw))?,
            captures: captures.collect::<Result<_, _>>()?,
        })
    }
}

/// What the headers say of the request beside its route.
#[derive(Clone, Copy, Debug)]
pub struct RequestFacts<'a> {
    /// `http` or `https`.
    pub scheme: &'a str,
    /// The Host header or the request target's authority.
    pub host: Option<&'a str>,
    pub path_and_query: &'a str,
    /// The TCP peer, by [`client`]; for a chained call and a Unix socket `0.0.0.0:0`.
    pub client: &'a HeaderValue,
}

/// A client's address as `spin-client-addr` says it: the same for a whole connection.
pub fn client(address: SocketAddr) -> HeaderValue {
    value(&address.to_string()).unwrap_or_else(|| HeaderValue::from_static(""))
}

/// Removes every `spin-*` header that the client sent, so that a component can trust those it sees.
pub fn strip(headers: &mut HeaderMap) {
    let sent: Vec<HeaderName> = headers
        .keys()
        .filter(|name| name.as_str().starts_with("spin-"))
        .cloned()
        .collect();
    for name in sent {
        headers.remove(name);
    }
}

/// Adds the `spin-*` headers of a request that matched a route.
pub fn add(headers: &mut HeaderMap, matched: &Match<'_, '_>, request: RequestFacts<'_>) {
    let of_route = &matched.route.headers;
    headers.reserve(SHARED + 3 + of_route.captures.len());
    headers.insert(MATCHED_ROUTE, of_route.matched.clone());
    headers.insert(RAW_COMPONENT_ROUTE, of_route.raw.clone());
    headers.insert(COMPONENT_ROUTE, of_route.component.clone());
    for (name, capture) in of_route.captures.iter().zip(&matched.captures) {
        insert(headers, name.clone(), capture);
    }
    add_shared(headers, matched.path_info, request);
}

/// Adds the `spin-*` headers of a call that another component of the app made (service chaining); `path` is the
/// call's whole path.
pub fn add_chained(headers: &mut HeaderMap, path: &str, request: RequestFacts<'_>) {
    headers.insert(MATCHED_ROUTE, HeaderValue::from_static("/..."));
    headers.insert(RAW_COMPONENT_ROUTE, HeaderValue::from_static("/..."));
    headers.insert(COMPONENT_ROUTE, HeaderValue::from_static(""));
    add_shared(headers, path, request);
}

/// How many headers [`add_shared`] adds.
const SHARED: usize = 4;

fn add_shared(headers: &mut HeaderMap, path_info: &str, request: RequestFacts<'_>) {
    let full_url = [
        request.scheme,
        "://",
        request.host.unwrap_or("localhost"),
        request.path_and_query,
    ]
    .concat();
    headers.insert(BASE_PATH, HeaderValue::from_static("/"));
    insert(headers, PATH_INFO, path_info);
    if let Ok(full_url) = HeaderValue::try_from(full_url) {
        headers.insert(FULL_URL, full_url);
    }
    headers.insert(CLIENT_ADDR, request.client.clone());
}

/// Parts of a request that the HTTP parser let through are always a header's value; anything else is left out.
fn insert(headers: &mut HeaderMap, name: HeaderName, text: &str) {
    if let Some(value) = value(text) {
        headers.insert(name, value);
    }
}

fn value(text: &str) -> Option<HeaderValue> {
    HeaderValue::from_bytes(text.as_bytes()).ok()
}
