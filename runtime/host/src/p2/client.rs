//! `wasi:http/outgoing-handler`, `request-options` and `future-incoming-response`: a guest's outbound requests.

use std::time::Duration;

use tokio::sync::oneshot;
use wasmtime::component::{LinkerInstance, Resource, ResourceType};
use wasmtime::{AsContextMut, Result, StoreContextMut};
use wasmtime_wasi::async_trait;
use wasmtime_wasi::p2::{DynPollable, Pollable, subscribe};
use wasmtime_wasi_http::p2::bindings::http::types::{DnsErrorPayload, ErrorCode};

use super::incoming::IncomingResponse;
use super::outgoing::OutgoingRequest;
use crate::message::Response;
use crate::outbound::{self, Options, Outbound, SendError};
use crate::state::State;
use crate::tables::{get_mut, insert, take};
use crate::trace;

type Store<'a> = StoreContextMut<'a, State>;

/// A response that is on its way.
pub enum FutureResponse {
    Waiting(oneshot::Receiver<Result<Response, SendError>>),
    Ready(Result<Response, SendError>),
    Taken,
}

impl FutureResponse {
    /// Looks without waiting whether the response is there.
    fn look(&mut self) {
        if let FutureResponse::Waiting(receiver) = self {
            match receiver.try_recv() {
                Ok(response) => *self = FutureResponse::Ready(response),
                Err(oneshot::error::TryRecvError::Empty) => {}
                Err(oneshot::error::TryRecvError::Closed) => {
                    *self = FutureResponse::Ready(Err(SendError::Terminated));
                }
            }
        }
    }
}

#[async_trait]
impl Pollable for FutureResponse {
    async fn ready(&mut self) {
        if let FutureResponse::Waiting(receiver) = self {
            let response = receiver.await.unwrap_or(Err(SendError::Terminated));
            *self = FutureResponse::Ready(response);
        }
    }
}

pub fn link(handler: &mut LinkerInstance<'_, State>) -> Result<()> {
    type Arguments = (Resource<OutgoingRequest>, Option<Resource<Options>>);
    type Handled = Result<Resource<FutureResponse>, ErrorCode>;
    handler.func_wrap(
        "handle",
        |mut store: Store<'_>, (request, options): Arguments| -> Result<(Handled,)> {
            let parent = trace::of_caller(store.as_context_mut());
            let state = store.data_mut();
            let request = take(&mut state.http02.outgoing_requests, &request)?;
            let options = match options {
                Some(options) => take(&mut state.http02.options, &options)?,
                None => Options::default(),
            };
            let sending = outbound::send(
                state.outbound.clone(),
                Outbound {
                    line: request.line,
                    headers: request.headers.into_map(),
                    body: request.body.into_body(),
                    options,
                    parent,
                },
            );
            let (mut sender, receiver) = oneshot::channel();
            tokio::task::spawn_local(async move {
                // The guest may drop the future, or be gone itself: then nobody needs the response.
                tokio::select! {
                    response = sending => drop(sender.send(response)),
                    () = sender.closed() => {}
                }
            });
            Ok((Ok(state.table.push(FutureResponse::Waiting(receiver))?),))
        },
    )
}

pub fn link_future(types: &mut LinkerInstance<'_, State>) -> Result<()> {
    type Handle = Resource<FutureResponse>;
    type Got = Option<Result<Result<Resource<IncomingResponse>, ErrorCode>, ()>>;
    types.resource(
        "future-incoming-response",
        ResourceType::host::<FutureResponse>(),
        |mut store, rep| {
            store.data_mut().table.delete(Handle::new_own(rep))?;
            Ok(())
        },
    )?;
    types.func_wrap(
        "[method]future-incoming-response.subscribe",
        |mut store: Store<'_>, (this,): (Handle,)| -> Result<(Resource<DynPollable>,)> {
            Ok((subscribe(&mut store.data_mut().table, this)?,))
        },
    )?;
    types.func_wrap(
        "[method]future-incoming-response.get",
        |mut store: Store<'_>, (this,): (Handle,)| -> Result<(Got,)> {
            let state = store.data_mut();
            let future = state.table.get_mut(&this)?;
            future.look();
            let response = match std::mem::replace(future, FutureResponse::Taken) {
                FutureResponse::Ready(response) => response,
                FutureResponse::Taken => return Ok((Some(Err(())),)),
                waiting => {
                    *future = waiting;
                    return Ok((None,));
                }
            };
            Ok((Some(Ok(match response {
                Ok(response) => Ok(insert(
                    &mut state.http02.incoming_responses,
                    response.into(),
                )?),
                Err(error) => Err(error.into()),
            })),))
        },
    )
}

pub fn link_options(types: &mut LinkerInstance<'_, State>) -> Result<()> {
    types.resource(
        "request-options",
        ResourceType::host::<Options>(),
        |mut store, rep| {
            let this = Resource::<Options>::new_own(rep);
            take(&mut store.data_mut().http02.options, &this).map(drop)
        },
    )?;
    types.func_wrap(
        "[constructor]request-options",
        |mut store: Store<'_>, (): ()| {
            let options = &mut store.data_mut().http02.options;
            Ok((insert(options, Options::default())?,))
        },
    )?;
    timeout(types, "connect-timeout", |o| &mut o.connect)?;
    timeout(types, "first-byte-timeout", |o| &mut o.first_byte)?;
    timeout(types, "between-bytes-timeout", |o| &mut o.between_bytes)
}

/// The getter and the setter of one time, in nanoseconds.
fn timeout(
    types: &mut LinkerInstance<'_, State>,
    name: &str,
    field: fn(&mut Options) -> &mut Option<Duration>,
) -> Result<()> {
    types.func_wrap(
        &format!("[method]request-options.{name}"),
        move |mut store: Store<'_>, (this,): (Resource<Options>,)| {
            let options = get_mut(&mut store.data_mut().http02.options, &this)?;
            let nanoseconds =
                field(options).map(|time| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
            Ok((nanoseconds,))
        },
    )?;
    types.func_wrap(
        &format!("[method]request-options.set-{name}"),
        move |mut store: Store<'_>, (this, time): (Resource<Options>, Option<u64>)| {
            let options = get_mut(&mut store.data_mut().http02.options, &this)?;
            *field(options) = time.map(Duration::from_nanos);
            Ok((Ok::<(), ()>(()),))
        },
    )
}

impl From<SendError> for ErrorCode {
    fn from(error: SendError) -> Self {
        match error {
            SendError::Denied => ErrorCode::HttpRequestDenied,
            SendError::Prohibited => ErrorCode::DestinationIpProhibited,
            SendError::UriInvalid => ErrorCode::HttpRequestUriInvalid,
            SendError::Protocol(_) => ErrorCode::HttpProtocolError,
            SendError::Dns(reason) => ErrorCode::DnsError(DnsErrorPayload {
                rcode: Some(reason),
                info_code: None,
            }),
            SendError::Refused => ErrorCode::ConnectionRefused,
            SendError::Unreachable(_) => ErrorCode::DestinationUnavailable,
            SendError::ConnectTimeout => ErrorCode::ConnectionTimeout,
            SendError::ResponseTimeout => ErrorCode::HttpResponseTimeout,
            SendError::Terminated => ErrorCode::ConnectionTerminated,
            SendError::LimitReached => ErrorCode::ConnectionLimitReached,
            SendError::Tls(_) => ErrorCode::TlsProtocolError,
            SendError::Certificate(_) => ErrorCode::TlsCertificateError,
            SendError::Body(error) => error.into(),
        }
    }
}
