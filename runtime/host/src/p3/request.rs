//! `wasi:http/types.request`.

use wasmtime::component::{FutureReader, LinkerInstance, Resource, ResourceType, StreamReader};
use wasmtime::{Result, StoreContextMut};
use wasmtime_wasi_http::p3::bindings::http::types::ErrorCode;

use super::body::{Trailers, pipe_in, pipe_out};
use super::options::Slot;
use crate::both::line;
use crate::headers::Fields;
use crate::message::{Body, Line, Request};
use crate::outbound::Options;
use crate::state::State;
use crate::tables::{get, insert, take};

type Store<'a> = StoreContextMut<'a, State>;
type Handle = Resource<GuestRequest>;
type Consumed = (StreamReader<u8>, FutureReader<Trailers>);

/// A request that a guest holds: one that came in, or one it means to send.
pub struct GuestRequest {
    pub line: Line,
    pub headers: Fields,
    pub options: Option<Options>,
    pub body: Body,
}

impl From<Request> for GuestRequest {
    fn from(request: Request) -> Self {
        let (parts, body) = request.into_parts();
        GuestRequest {
            line: Line::new(parts.method, parts.uri),
            headers: Fields::immutable(parts.headers),
            options: None,
            body,
        }
    }
}

pub fn link(types: &mut LinkerInstance<'_, State>) -> Result<()> {
    types.resource(
        "request",
        ResourceType::host::<GuestRequest>(),
        |mut store, rep| {
            take(&mut store.data_mut().http03.requests, &Handle::new_own(rep)).map(drop)
        },
    )?;
    types.func_wrap("[static]request.new", new)?;
    types.func_wrap(
        "[static]request.consume-body",
        |mut store: Store<'_>,
         (this, fate): (Handle, FutureReader<Result<(), ErrorCode>>)|
         -> Result<(Consumed,)> {
            let request = take(&mut store.data_mut().http03.requests, &this)?;
            let mut fate = fate;
            fate.close(&mut store)?;
            Ok((pipe_in(&mut store, request.body)?,))
        },
    )?;
    line::link_getters(types, "[method]request.get-", |state| {
        &state.http03.requests
    })?;
    line::link_setters(types, "[method]request.set-", |state| {
        &mut state.http03.requests
    })?;
    types.func_wrap(
        "[method]request.get-options",
        |mut store: Store<'_>, (this,): (Handle,)| {
            let http = &mut store.data_mut().http03;
            let options = match &get(&http.requests, &this)?.options {
                Some(options) => Some(insert(&mut http.options, (options.clone(), false))?),
                None => None,
            };
            Ok((options,))
        },
    )?;
    types.func_wrap(
        "[method]request.get-headers",
        |mut store: Store<'_>, (this,): (Handle,)| {
            let state = store.data_mut();
            let headers = get(&state.http03.requests, &this)?.headers.shared();
            Ok((insert(&mut state.fields, headers)?,))
        },
    )
}

type NewArguments = (
    Resource<Fields>,
    Option<StreamReader<u8>>,
    FutureReader<Trailers>,
    Option<Resource<Slot>>,
);
type New = (Handle, FutureReader<Result<(), ErrorCode>>);

impl AsRef<Line> for GuestRequest {
    fn as_ref(&self) -> &Line {
        &self.line
    }
}

impl AsMut<Line> for GuestRequest {
    fn as_mut(&mut self) -> &mut Line {
        &mut self.line
    }
}

fn new(
    mut store: Store<'_>,
    (headers, contents, trailers, options): NewArguments,
) -> Result<(New,)> {
    let state = store.data_mut();
    let headers = take(&mut state.fields, &headers)?.shared();
    let options = match options {
        Some(options) => Some(take(&mut state.http03.options, &options)?.0),
        None => None,
    };
    let empty = contents.is_none();
    let (pipe, fate) = pipe_out(&mut store, headers.map(), contents, trailers)?;
    let request = GuestRequest {
        line: Line::default(),
        headers,
        options,
        body: if empty {
            pipe.set_delivered();
            Body::Empty
        } else {
            Body::Pipe(pipe.reader())
        },
    };
    Ok(((
        insert(&mut store.data_mut().http03.requests, request)?,
        fate,
    ),))
}
