//! Calls that stay in process, on the same core, without a socket: of another component of the same app,
//! `<id>.spin.internal`, and of the app itself through its routes, `self`.

use std::cell::RefCell;
use std::rc::{Rc, Weak};

use http::header::{CONTENT_LENGTH, HOST, HeaderValue};
use http::uri::{Authority, PathAndQuery, Scheme};
use http::{HeaderMap, StatusCode};
use levelfield_app::headers::{self, RequestFacts};
use levelfield_app::outbound::CHAINING_DOMAIN;
use levelfield_app::route::Target;
use tokio::sync::oneshot;

use super::{Outbound, Permission, SendError};
use crate::call::CallError;
use crate::core::Core;
use crate::message::{Body, Request, Response};
use crate::observed::Observed;
use crate::server::well_known;

/// What a callee learns of its caller's address.
const CALLER: HeaderValue = HeaderValue::from_static("0.0.0.0:0");

thread_local! {
    static CORE: RefCell<Weak<Core>> = RefCell::default();
}

/// Makes `core` the one that calls from this thread go to.
pub fn enter(core: &Rc<Core>) {
    CORE.set(Rc::downgrade(core));
}

/// Has component `index` answer, as `<id>.spin.internal`.
pub async fn send(
    index: usize,
    request: Outbound,
    authority: Authority,
) -> Result<Response, SendError> {
    let path = super::send::path(request.line.path.clone())?;
    let id = authority
        .host()
        .trim_end_matches(CHAINING_DOMAIN)
        .to_owned();
    let request = message(request, Scheme::HTTP, authority, path, |sent, facts| {
        // A name of this kind means nothing to the callee.
        sent.remove(HOST);
        let path = facts.path_and_query.split('?').next().unwrap_or_default();
        headers::add_chained(sent, path, facts);
    })?;
    call(index, &id, "/...", request).await
}

/// Has the app answer through its routes, as if the request had come to the listener.
pub async fn send_to_self(
    permission: &Permission,
    request: Outbound,
) -> Result<Response, SendError> {
    let path = super::send::path(request.line.path.clone())?;
    // A component that asks is served, so the host is ready enough to say so.
    if let Some(response) = well_known::answer(&permission.app, true, path.path()) {
        return Ok(whole(response));
    }
    let Some(matched) = permission.app.router.lookup(path.path()) else {
        return Ok(not_found());
    };
    let component = match &matched.route.target {
        Target::Component(index) => *index,
        Target::Static(answer) => return Ok(whole(answer.response().map(Body::Full))),
    };
    let origin = permission.origin.clone();
    let host =
        HeaderValue::from_str(origin.authority.as_str()).map_err(|_| SendError::UriInvalid)?;
    let request = message(
        request,
        origin.scheme,
        origin.authority,
        path.clone(),
        |sent, facts| {
            sent.insert(HOST, host);
            headers::add(sent, &matched, facts);
        },
    )?;
    let id = &permission.app.components[component].id;
    call(component, id, &matched.route.raw, request).await
}

fn not_found() -> Response {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_LENGTH, HeaderValue::from_static("0"));
    Response {
        status: StatusCode::NOT_FOUND,
        headers,
        body: Body::Empty,
    }
}

fn whole(response: http::Response<Body>) -> Response {
    let (parts, body) = response.into_parts();
    Response {
        status: parts.status,
        headers: parts.headers,
        body,
    }
}

/// Calls component `index`, which is called `id`, by `route`.
async fn call(
    index: usize,
    id: &str,
    route: &str,
    mut request: Request,
) -> Result<Response, SendError> {
    let mut observed = Observed::begin(&request);
    observed.reaches(index, id, request.method(), route);
    observed.enter(&mut request);
    let (sender, receiver) = oneshot::channel();
    // A task of its own: one store's event loop must not run inside another's.
    tokio::task::spawn_local(async move {
        let core = CORE.with_borrow(Weak::upgrade);
        let answer = match core {
            Some(core) => core.call(index, request).await,
            None => Err(CallError::NoResponse),
        };
        match &answer {
            Ok(response) => observed.answered(response.status),
            Err(error) => {
                observed.fails(error.into());
                observed.answered(StatusCode::INTERNAL_SERVER_ERROR);
            }
        }
        // The caller may be gone.
        let _ = sender.send(answer);
    });
    receiver
        .await
        .unwrap_or(Err(CallError::NoResponse))
        .map_err(|error| match error {
            CallError::Timeout => SendError::ResponseTimeout,
            CallError::Overloaded => SendError::LimitReached,
            error => SendError::Unreachable(error.to_string()),
        })
}

/// The request as the callee receives it, with the headers that `add` puts in.
fn message(
    outbound: Outbound,
    scheme: Scheme,
    authority: Authority,
    path: PathAndQuery,
    add: impl FnOnce(&mut HeaderMap, RequestFacts<'_>),
) -> Result<Request, SendError> {
    let mut request = Request::new(outbound.body.settle()?);
    *request.method_mut() = outbound.line.method;
    *request.headers_mut() = outbound.headers;
    let sent = request.headers_mut();
    headers::strip(sent);
    let facts = RequestFacts {
        scheme: scheme.as_str(),
        host: Some(authority.as_str()),
        path_and_query: path.as_str(),
        client: &CALLER,
    };
    add(sent, facts);
    let mut uri = http::uri::Parts::default();
    uri.scheme = Some(scheme.clone());
    uri.authority = Some(authority.clone());
    uri.path_and_query = Some(path.clone());
    *request.uri_mut() = http::Uri::from_parts(uri).map_err(|_| SendError::UriInvalid)?;
    Ok(request)
}
