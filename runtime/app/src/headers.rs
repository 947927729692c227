//! The `spin-*` headers that a component receives beside those that the client sent.

use std::net::SocketAddr;

use http::{HeaderMap, HeaderName, HeaderValue};

use crate::route::{Match, header_value};

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
}

impl OfRoute {
    pub(crate) fn new(raw: &str) -> Option<Self> {
        let absolute = if raw.starts_with('/') {
            raw.to_owned()
        } else {
            format!("/{raw}")
        };
        let component = raw
            .strip_suffix("/...")
            .or_else(|| raw.strip_suffix("/*"))
            .unwrap_or(raw);
        Some(OfRoute {
            matched: header_value(absolute.strip_suffix('/').unwrap_or(&absolute))?,
            raw: header_value(raw)?,
            component: header_value(component)?,
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
    /// The TCP peer; for a chained call and a Unix socket `0.0.0.0:0`.
    pub client: SocketAddr,
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
    headers.insert(MATCHED_ROUTE, of_route.matched.clone());
    headers.insert(RAW_COMPONENT_ROUTE, of_route.raw.clone());
    headers.insert(COMPONENT_ROUTE, of_route.component.clone());
    add_shared(headers, matched.path_info, request);
}

/// Adds the `spin-*` headers of a call that another component of the app made (service chaining).
pub fn add_chained(headers: &mut HeaderMap, path: &str, request: RequestFacts<'_>) {
    headers.insert(MATCHED_ROUTE, HeaderValue::from_static("/..."));
    headers.insert(RAW_COMPONENT_ROUTE, HeaderValue::from_static("/..."));
    headers.insert(COMPONENT_ROUTE, HeaderValue::from_static(""));
    add_shared(headers, path, request);
}

fn add_shared(headers: &mut HeaderMap, path_info: &str, request: RequestFacts<'_>) {
    headers.insert(BASE_PATH, HeaderValue::from_static("/"));
    let full_url = format!(
        "{}://{}{}",
        request.scheme,
        request.host.unwrap_or("localhost"),
        request.path_and_query
    );
    for (name, value) in [
        (PATH_INFO, path_info),
        (FULL_URL, &full_url),
        (CLIENT_ADDR, &request.client.to_string()),
    ] {
        // Parts of a request that the HTTP parser let through are always a header's value; else leave it out.
        if let Some(value) = header_value(value) {
            headers.insert(name, value);
        }
    }
}
