//! `wasi:http/types.{outgoing-request, outgoing-response, response-outparam}`.

use std::sync::Arc;

use http::StatusCode;
use wasmtime::component::{LinkerInstance, Resource, ResourceType};
use wasmtime::{Result, StoreContextMut};
use wasmtime_wasi_http::p2::bindings::http::types::ErrorCode;

use super::body::OutgoingBody;
use crate::both::line;
use crate::call::{CallError, Reply};
use crate::headers::{self, Fields};
use crate::instance::Shared;
use crate::message::{Body, Line, Response};
use crate::pipe::{Pipe, PipeReader};
use crate::state::State;
use crate::tables::{get, get_mut, insert, take};

type Store<'a> = StoreContextMut<'a, State>;

/// A request that the guest means to send.
pub struct OutgoingRequest {
    pub line: Line,
    pub headers: Fields,
    pub body: OutgoingMessageBody,
}

impl AsRef<Line> for OutgoingRequest {
    fn as_ref(&self) -> &Line {
        &self.line
    }
}

impl AsMut<Line> for OutgoingRequest {
    fn as_mut(&mut self) -> &mut Line {
        &mut self.line
    }
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

pub fn link(types: &mut LinkerInstance<'_, State>) -> Result<()> {
    link_request(types)?;
    line::link_getters(types, "[method]outgoing-request.", |state| {
        &state.http02.outgoing_requests
    })?;
    line::link_setters(types, "[method]outgoing-request.set-", |state| {
        &mut state.http02.outgoing_requests
    })?;
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
            let state = store.data_mut();
            let request = OutgoingRequest {
                line: Line::default(),
                headers: take(&mut state.fields, &headers)?.shared(),
                body: OutgoingMessageBody::default(),
            };
            Ok((insert(&mut state.http02.outgoing_requests, request)?,))
        },
    )?;
    types.func_wrap(
        "[method]outgoing-request.headers",
        |mut store: Store<'_>, (this,): (Handle,)| {
            let state = store.data_mut();
            let headers = get(&state.http02.outgoing_requests, &this)?
                .headers
                .shared();
            Ok((insert(&mut state.fields, headers)?,))
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
            let state = store.data_mut();
            let response = OutgoingResponse {
                status: StatusCode::OK,
                headers: take(&mut state.fields, &headers)?.shared(),
                body: OutgoingMessageBody::default(),
            };
            Ok((insert(&mut state.http02.outgoing_responses, response)?,))
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
            let state = store.data_mut();
            let headers = get(&state.http02.outgoing_responses, &this)?
                .headers
                .shared();
            Ok((insert(&mut state.fields, headers)?,))
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
