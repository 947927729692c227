//! `wasi:http/types.{outgoing-request, outgoing-response, response-outparam}`.

use std::sync::Arc;

use http::StatusCode;
use http::uri::{Authority, PathAndQuery};
use wasmtime::component::{LinkerInstance, Resource, ResourceType};
use wasmtime::{Result, StoreContextMut};
use wasmtime_wasi_http::p2::bindings::http::types::{ErrorCode, Method, Scheme};

use super::body::OutgoingBody;
use super::incoming::{method_out, scheme_out};
use crate::call::{CallError, Reply};
use crate::headers::{self, Fields};
use crate::instance::Shared;
use crate::message::{Body, Response};
use crate::outbound;
use crate::pipe::{Pipe, PipeReader};
use crate::state::State;
use crate::tables::{get, get_mut, insert, take};

type Store<'a> = StoreContextMut<'a, State>;

/// A request that the guest means to send.
pub struct OutgoingRequest {
    pub method: http::Method,
    pub scheme: Option<http::uri::Scheme>,
    pub authority: Option<Authority>,
    pub path: Option<PathAndQuery>,
    pub headers: Fields,
    pub body: OutgoingMessageBody,
}

/// A response that the guest makes.
pub struct OutgoingResponse {
    status: StatusCode,
    headers: Fields,
    body: OutgoingMessageBody,
}

/// The body of a message that a guest makes: none until it asks for one.
#[derive(Default)]
pub struct OutgoingMessageBody(Option<PipeReader>);

impl OutgoingMessageBody {
    /// The body to be written, the first time.
    fn open(&mut self, headers: &Fields, owner: &Arc<Shared>) -> Option<Pipe> {
        if self.0.is_some() {
            return None;
        }
        let announced = headers::content_length(headers.map()).ok().flatten();
        let pipe = Pipe::new(announced, owner.clone());
        self.0 = Some(pipe.reader());
        Some(pipe)
    }

    pub fn into_body(self) -> Body {
        self.0.map_or(Body::Empty, Body::Pipe)
    }
}

/// Where the guest puts its answer; dropped without one, there is none.
pub struct Outparam(pub Arc<Reply>);

fn method_in(method: Method) -> Result<http::Method, ()> {
    Ok(match method {
        Method::Get => http::Method::GET,
        Method::Head => http::Method::HEAD,
        Method::Post => http::Method::POST,
        Method::Put => http::Method::PUT,
        Method::Delete => http::Method::DELETE,
        Method::Connect => http::Method::CONNECT,
        Method::Options => http::Method::OPTIONS,
        Method::Trace => http::Method::TRACE,
        Method::Patch => http::Method::PATCH,
        Method::Other(other) => http::Method::from_bytes(other.as_bytes()).map_err(drop)?,
    })
}

fn scheme_in(scheme: Scheme) -> Result<http::uri::Scheme, ()> {
    Ok(match scheme {
        Scheme::Http => http::uri::Scheme::HTTP,
        Scheme::Https => http::uri::Scheme::HTTPS,
        Scheme::Other(other) => other.parse().map_err(drop)?,
    })
}

pub fn link(types: &mut LinkerInstance<'_, State>) -> Result<()> {
    link_request(types)?;
    link_request_line(types)?;
    link_response(types)?;
    link_outparam(types)
}

fn link_request(types: &mut LinkerInstance<'_, State>) -> Result<()> {
    type Handle = Resource<OutgoingRequest>;
    types.resource(
        "outgoing-request",
        ResourceType::host::<OutgoingRequest>(),
        |mut store, rep| {
            let this = Handle::new_own(rep);
            take(&mut store.data_mut().http02.outgoing_requests, &this).map(drop)
        },
    )?;
    types.func_wrap(
        "[constructor]outgoing-request",
        |mut store: Store<'_>, (headers,): (Resource<Fields>,)| {
            let http = &mut store.data_mut().http02;
            let request = OutgoingRequest {
                method: http::Method::GET,
                scheme: None,
                authority: None,
                path: None,
                headers: take(&mut http.fields, &headers)?.shared(),
                body: OutgoingMessageBody::default(),
            };
            Ok((insert(&mut http.outgoing_requests, request)?,))
        },
    )?;
    types.func_wrap(
        "[method]outgoing-request.headers",
        |mut store: Store<'_>, (this,): (Handle,)| {
            let http = &mut store.data_mut().http02;
            let headers = get(&http.outgoing_requests, &this)?.headers.shared();
            Ok((insert(&mut http.fields, headers)?,))
        },
    )?;
    types.func_wrap(
        "[method]outgoing-request.body",
        |mut store: Store<'_>, (this,): (Handle,)| {
            let state = store.data_mut();
            let request = get_mut(&mut state.http02.outgoing_requests, &this)?;
            let Some(pipe) = request.body.open(&request.headers, &state.shared) else {
                return Ok((Err(()),));
            };
            let body = OutgoingBody::new(pipe, state.shared.clone());
            Ok((Ok(insert(&mut state.http02.outgoing_bodies, body)?),))
        },
    )
}

/// The parts of the request line, each read and written.
fn link_request_line(types: &mut LinkerInstance<'_, State>) -> Result<()> {
    type Handle = Resource<OutgoingRequest>;
    types.func_wrap(
        "[method]outgoing-request.method",
        |store: Store<'_>, (this,): (Handle,)| {
            let request = get(&store.data().http02.outgoing_requests, &this)?;
            Ok((method_out(&request.method),))
        },
    )?;
    types.func_wrap(
        "[method]outgoing-request.set-method",
        |mut store: Store<'_>, (this, method): (Handle, Method)| {
            let request = get_mut(&mut store.data_mut().http02.outgoing_requests, &this)?;
            Ok((method_in(method).map(|method| request.method = method),))
        },
    )?;
    types.func_wrap(
        "[method]outgoing-request.path-with-query",
        |store: Store<'_>, (this,): (Handle,)| {
            let request = get(&store.data().http02.outgoing_requests, &this)?;
            Ok((request.path.as_ref().map(|path| path.as_str().to_owned()),))
        },
    )?;
    types.func_wrap(
        "[method]outgoing-request.set-path-with-query",
        |mut store: Store<'_>, (this, path): (Handle, Option<String>)| {
            let request = get_mut(&mut store.data_mut().http02.outgoing_requests, &this)?;
            Ok((path
                .map(|path| outbound::parse_path(&path).ok_or(()))
                .transpose()
                .map(|path| request.path = path),))
        },
    )?;
    types.func_wrap(
        "[method]outgoing-request.scheme",
        |store: Store<'_>, (this,): (Handle,)| {
            let request = get(&store.data().http02.outgoing_requests, &this)?;
            Ok((request.scheme.as_ref().map(scheme_out),))
        },
    )?;
    types.func_wrap(
        "[method]outgoing-request.set-scheme",
        |mut store: Store<'_>, (this, scheme): (Handle, Option<Scheme>)| {
            let request = get_mut(&mut store.data_mut().http02.outgoing_requests, &this)?;
            Ok((scheme
                .map(scheme_in)
                .transpose()
                .map(|scheme| request.scheme = scheme),))
        },
    )?;
    types.func_wrap(
        "[method]outgoing-request.authority",
        |store: Store<'_>, (this,): (Handle,)| {
            let request = get(&store.data().http02.outgoing_requests, &this)?;
            Ok((request.authority.as_ref().map(|a| a.as_str().to_owned()),))
        },
    )?;
    types.func_wrap(
        "[method]outgoing-request.set-authority",
        |mut store: Store<'_>, (this, authority): (Handle, Option<String>)| {
            let request = get_mut(&mut store.data_mut().http02.outgoing_requests, &this)?;
            Ok((authority
                .map(|authority| outbound::parse_authority(&authority).ok_or(()))
                .transpose()
                .map(|authority| request.authority = authority),))
        },
    )
}

fn link_response(types: &mut LinkerInstance<'_, State>) -> Result<()> {
    type Handle = Resource<OutgoingResponse>;
    types.resource(
        "outgoing-response",
        ResourceType::host::<OutgoingResponse>(),
        |mut store, rep| {
            let this = Handle::new_own(rep);
            take(&mut store.data_mut().http02.outgoing_responses, &this).map(drop)
        },
    )?;
    types.func_wrap(
        "[constructor]outgoing-response",
        |mut store: Store<'_>, (headers,): (Resource<Fields>,)| {
            let http = &mut store.data_mut().http02;
            let response = OutgoingResponse {
                status: StatusCode::OK,
                headers: take(&mut http.fields, &headers)?.shared(),
                body: OutgoingMessageBody::default(),
            };
            Ok((insert(&mut http.outgoing_responses, response)?,))
        },
    )?;
    types.func_wrap(
        "[method]outgoing-response.status-code",
        |store: Store<'_>, (this,): (Handle,)| {
            let response = get(&store.data().http02.outgoing_responses, &this)?;
            Ok((response.status.as_u16(),))
        },
    )?;
    types.func_wrap(
        "[method]outgoing-response.set-status-code",
        |mut store: Store<'_>, (this, status): (Handle, u16)| {
            let response = get_mut(&mut store.data_mut().http02.outgoing_responses, &this)?;
            let status = StatusCode::from_u16(status)
                .ok()
                .filter(|status| (100..600).contains(&status.as_u16()))
                .ok_or(());
            Ok((status.map(|status| response.status = status),))
        },
    )?;
    types.func_wrap(
        "[method]outgoing-response.headers",
        |mut store: Store<'_>, (this,): (Handle,)| {
            let http = &mut store.data_mut().http02;
            let headers = get(&http.outgoing_responses, &this)?.headers.shared();
            Ok((insert(&mut http.fields, headers)?,))
        },
    )?;
    types.func_wrap(
        "[method]outgoing-response.body",
        |mut store: Store<'_>, (this,): (Handle,)| {
            let state = store.data_mut();
            let response = get_mut(&mut state.http02.outgoing_responses, &this)?;
            let Some(pipe) = response.body.open(&response.headers, &state.shared) else {
                return Ok((Err(()),));
            };
            let body = OutgoingBody::new(pipe, state.shared.clone());
            Ok((Ok(insert(&mut state.http02.outgoing_bodies, body)?),))
        },
    )
}

fn link_outparam(types: &mut LinkerInstance<'_, State>) -> Result<()> {
    type Handle = Resource<Outparam>;
    types.resource(
        "response-outparam",
        ResourceType::host::<Outparam>(),
        |mut store, rep| {
            let this = Handle::new_own(rep);
            take(&mut store.data_mut().http02.outparams, &this).map(drop)
        },
    )?;
    types.func_wrap(
        "[static]response-outparam.set",
        |mut store: Store<'_>,
         (this, response): (Handle, Result<Resource<OutgoingResponse>, ErrorCode>)| {
            let http = &mut store.data_mut().http02;
            let outparam = take(&mut http.outparams, &this)?;
            let answer = match response {
                Ok(response) => {
                    let response = take(&mut http.outgoing_responses, &response)?;
                    Ok(Response {
                        status: response.status,
                        headers: response.headers.into_map(),
                        body: response.body.into_body(),
                    })
                }
                Err(error) => Err(CallError::Guest(format!("{error:?}").into())),
            };
            outparam.0.set(answer);
            Ok(())
        },
    )
}
