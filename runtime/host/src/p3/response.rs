//! `wasi:http/types.response`.

use http::StatusCode;
use wasmtime::component::{FutureReader, LinkerInstance, Resource, ResourceType, StreamReader};
use wasmtime::{Result, StoreContextMut};
use wasmtime_wasi_http::p3::bindings::http::types::ErrorCode;

use super::body::{Trailers, pipe_in, pipe_out};
use crate::headers::Fields;
use crate::message::{Body, Response};
use crate::state::State;
use crate::tables::{get, get_mut, insert, take};

type Store<'a> = StoreContextMut<'a, State>;
type Handle = Resource<GuestResponse>;
type Consumed = (StreamReader<u8>, FutureReader<Trailers>);
type New = (Handle, FutureReader<Result<(), ErrorCode>>);

/// A response that a guest holds: one it makes, or one that it got.
pub struct GuestResponse {
    pub status: StatusCode,
    pub headers: Fields,
    pub body: Body,
}

impl From<Response> for GuestResponse {
    fn from(response: Response) -> Self {
        GuestResponse {
            status: response.status,
            headers: Fields::immutable(response.headers),
            body: response.body,
        }
    }
}

impl From<GuestResponse> for Response {
    fn from(response: GuestResponse) -> Self {
        Response {
            status: response.status,
            headers: response.headers.into_map(),
            body: response.body,
        }
    }
}

pub fn link(types: &mut LinkerInstance<'_, State>) -> Result<()> {
    types.resource(
        "response",
        ResourceType::host::<GuestResponse>(),
        |mut store, rep| {
            take(
                &mut store.data_mut().http03.responses,
                &Handle::new_own(rep),
            )
            .map(drop)
        },
    )?;
    types.func_wrap(
        "[static]response.new",
        |mut store: Store<'_>,
         (headers, contents, trailers): (
            Resource<Fields>,
            Option<StreamReader<u8>>,
            FutureReader<Trailers>,
        )|
         -> Result<(New,)> {
            let headers = take(&mut store.data_mut().fields, &headers)?.shared();
            let (pipe, fate) = pipe_out(&mut store, headers.map(), contents, trailers)?;
            let response = GuestResponse {
                status: StatusCode::OK,
                headers,
                body: Body::Pipe(pipe.reader()),
            };
            Ok(((
                insert(&mut store.data_mut().http03.responses, response)?,
                fate,
            ),))
        },
    )?;
    types.func_wrap(
        "[static]response.consume-body",
        |mut store: Store<'_>,
         (this, mut fate): (Handle, FutureReader<Result<(), ErrorCode>>)|
         -> Result<(Consumed,)> {
            let response = take(&mut store.data_mut().http03.responses, &this)?;
            fate.close(&mut store)?;
            Ok((pipe_in(&mut store, response.body)?,))
        },
    )?;
    types.func_wrap(
        "[method]response.get-status-code",
        |store: Store<'_>, (this,): (Handle,)| {
            Ok((get(&store.data().http03.responses, &this)?.status.as_u16(),))
        },
    )?;
    types.func_wrap(
        "[method]response.set-status-code",
        |mut store: Store<'_>, (this, status): (Handle, u16)| {
            let response = get_mut(&mut store.data_mut().http03.responses, &this)?;
            // 1xx would be no final answer, and 600 and more is no HTTP.
            let status = StatusCode::from_u16(status)
                .ok()
                .filter(|status| (100..600).contains(&status.as_u16()))
                .ok_or(());
            Ok((status.map(|status| response.status = status),))
        },
    )?;
    types.func_wrap(
        "[method]response.get-headers",
        |mut store: Store<'_>, (this,): (Handle,)| {
            let state = store.data_mut();
            let headers = get(&state.http03.responses, &this)?.headers.shared();
            Ok((insert(&mut state.fields, headers)?,))
        },
    )
}
