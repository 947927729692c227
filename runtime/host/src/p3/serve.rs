//! Runs a 0.3 instance: takes calls from the inbox and starts them, several at a time, until it is retired.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use wasmtime::component::{Accessor, Instance, Resource, TypedFunc};
use wasmtime::{Result, Store};
use wasmtime_wasi_http::p3::bindings::http::types::ErrorCode;

use super::{GuestRequest, GuestResponse};
use crate::call::{Call, CallError, Reply};
use crate::export::Export;
use crate::instance::Shared;
use crate::state::State;
use crate::tables::{insert, take};

type Outcome = (Result<Resource<GuestResponse>, ErrorCode>,);
type Running<'a> = Pin<Box<dyn Future<Output = Result<Outcome>> + Send + 'a>>;

/// A component's `wasi:http/handler.handle`.
pub type Handler = Export<(Resource<GuestRequest>,), Outcome>;

/// Serves calls until the instance is retired and has nothing left to do; fails when the guest traps.
pub async fn serve(
    store: &mut Store<State>,
    instance: Instance,
    handler: &Handler,
    shared: Arc<Shared>,
) -> Result<()> {
    let handle = handler.of(store, &instance)?;
    store
        .run_concurrent(async |accessor| {
            let mut calls: Vec<(Running<'_>, Arc<Reply>)> = Vec::new();
            poll_fn(|cx| step(cx, accessor, &handle, &shared, &mut calls)).await
        })
        .await?
}

/// One turn of the instance's event loop: new calls in, answers out.
fn step<'a>(
    cx: &mut Context<'_>,
    accessor: &'a Accessor<State>,
    handle: &TypedFunc<(Resource<GuestRequest>,), Outcome>,
    shared: &Shared,
    calls: &mut Vec<(Running<'a>, Arc<Reply>)>,
) -> Poll<Result<()>> {
    shared.begin_turn();
    let mut index = 0;
    while index < calls.len() {
        match calls[index].0.as_mut().poll(cx) {
            Poll::Pending => index += 1,
            Poll::Ready(outcome) => {
                let (_, reply) = calls.swap_remove(index);
                answer(accessor, &reply, outcome?.0)?;
                shared.finished(&reply);
            }
        }
    }
    while let Some(Call { request, reply, .. }) = shared.take_call() {
        let call = accessor.with(|mut access| {
            let span = request.extensions().get().cloned();
            let request = insert(&mut access.data_mut().http03.requests, request.into())?;
            let call = handle.start_call_concurrent(&mut access, (request,))?;
            access.data_mut().traces.begin(call.task(), span);
            wasmtime::error::Ok(call)
        })?;
        let mut running: Running<'a> = Box::pin(handle.finish_call_concurrent(accessor, call));
        // Polled once, so that the call can wake this loop when it has an answer.
        if let Poll::Ready(outcome) = running.as_mut().poll(cx) {
            answer(accessor, &reply, outcome?.0)?;
            shared.finished(&reply);
        } else {
            calls.push((running, reply));
        }
    }
    // Every guest task counts, so that one which goes on after its answer is left to finish.
    let at_rest = calls.is_empty() && accessor.poll_no_interesting_tasks(cx).is_ready();
    shared.set_at_rest(at_rest);
    if at_rest && shared.is_retired() {
        return Poll::Ready(Ok(()));
    }
    Poll::Pending
}

fn answer(
    accessor: &Accessor<State>,
    reply: &Reply,
    outcome: Result<Resource<GuestResponse>, ErrorCode>,
) -> Result<()> {
    let answer = match outcome {
        Ok(response) => Ok(accessor
            .with(|mut access| take(&mut access.data_mut().http03.responses, &response))?
            .into()),
        Err(error) => Err(CallError::Guest(format!("{error:?}").into())),
    };
    reply.set(answer);
    Ok(())
}
