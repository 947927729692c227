//! Runs a 0.2 instance: one call after the other, until it is retired.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use wasmtime::component::{Instance, Resource};
use wasmtime::{Result, Store};

use super::incoming::IncomingRequest;
use super::outgoing::Outparam;
use crate::call::CallError;
use crate::export::Export;
use crate::instance::Shared;
use crate::state::State;
use crate::tables::insert;

/// A component's `wasi:http/incoming-handler.handle`.
pub type Handler = Export<(Resource<IncomingRequest>, Resource<Outparam>), ()>;

/// Serves calls until the instance is retired; fails when the guest traps.
pub async fn serve(
    store: &mut Store<State>,
    instance: Instance,
    handler: &Handler,
    shared: Arc<Shared>,
) -> Result<()> {
    let handle = handler.of(store, &instance)?;
    loop {
        let call = poll_fn(|_| {
            shared.begin_turn();
            if let Some(call) = shared.take_call() {
                return Poll::Ready(Some(call));
            }
            shared.set_at_rest(true);
            if shared.is_retired() {
                Poll::Ready(None)
            } else {
                Poll::Pending
            }
        })
        .await;
        let Some(call) = call else {
            return Ok(());
        };
        let span = call.request.extensions().get().cloned();
        store.data_mut().traces.set_only(span);
        let http = &mut store.data_mut().http02;
        let request = insert(&mut http.incoming_requests, call.request.into())?;
        let outparam = insert(&mut http.outparams, Outparam(call.reply.clone()))?;
        handle.call_async(&mut *store, (request, outparam)).await?;
        // No effect on an answer that was given.
        call.reply.set(Err(CallError::NoResponse));
        shared.finished(&call.reply);
    }
}
