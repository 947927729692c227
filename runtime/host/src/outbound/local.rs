//! Calls of another component of the same app, `<id>.spin.internal`: in process, on the same core, without a socket.

use std::cell::RefCell;
use std::net::{Ipv4Addr, SocketAddr};
use std::rc::{Rc, Weak};

use http::header::HOST;
use http::uri::{Authority, Scheme};
use levelfield_app::headers::{self, RequestFacts};
use tokio::sync::oneshot;

use super::{Outbound, SendError};
use crate::call::CallError;
use crate::core::Core;
use crate::message::{Request, Response};

thread_local! {
    static CORE: RefCell<Weak<Core>> = RefCell::default();
}

/// Makes `core` the one that calls from this thread go to.
pub fn enter(core: &Rc<Core>) {
    CORE.set(Rc::downgrade(core));
}

/// Has component `index` answer `request`.
pub async fn send(
    index: usize,
    request: Outbound,
    authority: Authority,
) -> Result<Response, SendError> {
    let request = for_component(request, &authority)?;
    let (sender, receiver) = oneshot::channel();
    // A task of its own: one store's event loop must not run inside another's.
    tokio::task::spawn_local(async move {
        let core = CORE.with_borrow(Weak::upgrade);
        let answer = match core {
            Some(core) => core.call(index, request).await,
            None => Err(CallError::NoResponse),
        };
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

fn for_component(outbound: Outbound, authority: &Authority) -> Result<Request, SendError> {
    let path_and_query = super::send::path(outbound.path)?;
    let mut request = Request::new(outbound.body.settle()?);
    *request.method_mut() = outbound.method;
    *request.headers_mut() = outbound.headers;
    let sent = request.headers_mut();
    // A name of this kind means nothing to the callee.
    sent.remove(HOST);
    headers::strip(sent);
    headers::add_chained(
        sent,
        path_and_query.path(),
        RequestFacts {
            scheme: "http",
            host: Some(authority.as_str()),
            path_and_query: path_and_query.as_str(),
            client: SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)),
        },
    );
    let mut uri = http::uri::Parts::default();
    uri.scheme = Some(Scheme::HTTP);
    uri.authority = Some(authority.clone());
    uri.path_and_query = Some(path_and_query);
    *request.uri_mut() = http::Uri::from_parts(uri).map_err(|_| SendError::UriInvalid)?;
    Ok(request)
}
