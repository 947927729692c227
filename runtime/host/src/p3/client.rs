//! `wasi:http/client`: a guest's outbound requests.

use wasmtime::AsContextMut;
use wasmtime::component::{Accessor, LinkerInstance, Resource};
use wasmtime_wasi_http::p3::bindings::http::types::{DnsErrorPayload, ErrorCode};

use super::{GuestRequest, GuestResponse};
use crate::outbound::{self, Outbound, SendError};
use crate::state::State;
use crate::tables::{insert, take};
use crate::trace;

type Sent = Result<Resource<GuestResponse>, ErrorCode>;

pub fn link(client: &mut LinkerInstance<'_, State>) -> wasmtime::Result<()> {
    client.func_wrap_concurrent(
        "send",
        |store: &Accessor<State>, (request,): (Resource<GuestRequest>,)| {
            Box::pin(async move { Ok((send(store, request).await?,)) })
        },
    )
}

async fn send(store: &Accessor<State>, request: Resource<GuestRequest>) -> wasmtime::Result<Sent> {
    let sending = store.with(|mut access| {
        let parent = trace::of_caller(access.as_context_mut());
        let state = access.data_mut();
        let request = take(&mut state.http03.requests, &request)?;
        wasmtime::error::Ok(outbound::send(
            state.outbound.clone(),
            Outbound {
                line: request.line,
                headers: request.headers.into_map(),
                body: request.body,
                options: request.options.unwrap_or_default(),
                parent,
            },
        ))
    })?;
    match sending.await {
        Ok(response) => store.with(|mut access| {
            let responses = &mut access.data_mut().http03.responses;
            Ok(Ok(insert(responses, response.into())?))
        }),
        Err(error) => Ok(Err(error.into())),
    }
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
