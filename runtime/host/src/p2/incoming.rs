//! `wasi:http/types.{incoming-request, incoming-response}`.

use http::StatusCode;
use wasmtime::component::{LinkerInstance, Resource, ResourceType};
use wasmtime::{Result, StoreContextMut};

use super::body::IncomingBody;
use crate::both::line;
use crate::headers::Fields;
use crate::message::{Body, Line, Request, Response};
use crate::state::State;
use crate::tables::{get, get_mut, insert, take};

type Store<'a> = StoreContextMut<'a, State>;

/// A request that came in for the guest.
pub struct IncomingRequest {
    line: Line,
    headers: Fields,
    body: Option<Body>,
}

impl From<Request> for IncomingRequest {
    fn from(request: Request) -> Self {
        let (parts, body) = request.into_parts();
        IncomingRequest {
            line: Line::new(parts.method, parts.uri),
            headers: Fields::immutable(parts.headers),
            body: Some(body),
        }
    }
}

impl AsRef<Line> for IncomingRequest {
    fn as_ref(&self) -> &Line {
        &self.line
    }
}

/// A response to a request that the guest sent.
pub struct IncomingResponse {
    status: StatusCode,
    headers: Fields,
    body: Option<Body>,
}

impl From<Response> for IncomingResponse {
    fn from(response: Response) -> Self {
        IncomingResponse {
            status: response.status,
            headers: Fields::immutable(response.headers),
            body: Some(response.body),
        }
    }
}

pub fn link(types: &mut LinkerInstance<'_, State>) -> Result<()> {
    link_request(types)?;
    link_response(types)
}

fn link_request(types: &mut LinkerInstance<'_, State>) -> Result<()> {
    type Handle = Resource<IncomingRequest>;
    types.resource(
        "incoming-request",
        ResourceType::host::<IncomingRequest>(),
        |mut store, rep| {
            let this = Handle::new_own(rep);
            take(&mut store.data_mut().http02.incoming_requests, &this).map(drop)
        },
    )?;
    line::link_getters(types, "[method]incoming-request.", |state| {
        &state.http02.incoming_requests
    })?;
    types.func_wrap(
        "[method]incoming-request.headers",
        |mut store: Store<'_>, (this,): (Handle,)| {
            let state = store.data_mut();
            let headers = get(&state.http02.incoming_requests, &this)?
                .headers
                .shared();
            Ok((insert(&mut state.fields, headers)?,))
        },
    )?;
    types.func_wrap(
        "[method]incoming-request.consume",
        |mut store: Store<'_>, (this,): (Handle,)| {
            let http = &mut store.data_mut().http02;
            let body = get_mut(&mut http.incoming_requests, &this)?.body.take();
            Ok((match body {
                Some(body) => Ok(insert(&mut http.incoming_bodies, IncomingBody::new(body))?),
                None => Err(()),
            },))
        },
    )
}

fn link_response(types: &mut LinkerInstance<'_, State>) -> Result<()> {
    type Handle = Resource<IncomingResponse>;
    types.resource(
        "incoming-response",
        ResourceType::host::<IncomingResponse>(),
        |mut store, rep| {
            let this = Handle::new_own(rep);
            take(&mut store.data_mut().http02.incoming_responses, &this).map(drop)
        },
    )?;
    types.func_wrap(
        "[method]incoming-response.status",
        |store: Store<'_>, (this,): (Handle,)| {
            let response = get(&store.data().http02.incoming_responses, &this)?;
            Ok((response.status.as_u16(),))
        },
    )?;
    types.func_wrap(
        "[method]incoming-response.headers",
        |mut store: Store<'_>, (this,): (Handle,)| {
            let state = store.data_mut();
            let headers = get(&state.http02.incoming_responses, &this)?
                .headers
                .shared();
            Ok((insert(&mut state.fields, headers)?,))
        },
    )?;
    types.func_wrap(
        "[method]incoming-response.consume",
        |mut store: Store<'_>, (this,): (Handle,)| {
            let http = &mut store.data_mut().http02;
            let body = get_mut(&mut http.incoming_responses, &this)?.body.take();
            Ok((match body {
                Some(body) => Ok(insert(&mut http.incoming_bodies, IncomingBody::new(body))?),
                None => Err(()),
            },))
        },
    )
}
