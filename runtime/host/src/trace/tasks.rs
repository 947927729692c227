//! Which request a guest works on when it sends one of its own: several may be in flight in one instance.

use std::collections::VecDeque;

use opentelemetry::trace::SpanContext;
use wasmtime::StoreContextMut;
use wasmtime::component::GuestTaskId;

use crate::state::State;

/// How many calls of an instance are remembered: a guest may send requests after its answer.
const REMEMBERED: usize = 1024;

/// The traced calls of one store.
#[derive(Default)]
pub struct Tasks {
    /// The newest last.
    calls: VecDeque<(GuestTaskId, SpanContext)>,
    /// The one call that a WASI 0.2 instance has at a time.
    only: Option<SpanContext>,
}

impl Tasks {
    /// Call `task` belongs to the span `context`, if it is traced.
    pub fn begin(&mut self, task: GuestTaskId, context: Option<SpanContext>) {
        let Some(context) = context else { return };
        if self.calls.len() == REMEMBERED {
            self.calls.pop_front();
        }
        self.calls.push_back((task, context));
    }

    /// The only call of this store belongs to the span `context`, if it is traced.
    pub fn set_only(&mut self, context: Option<SpanContext>) {
        self.only = context;
    }
}

/// The span of the request that the guest worked on when it called the host just now.
pub fn of_caller(mut store: StoreContextMut<'_, State>) -> Option<SpanContext> {
    let tasks = &store.data().traces;
    if tasks.calls.is_empty() {
        return tasks.only.clone();
    }
    let stack: Vec<GuestTaskId> = store.async_call_stack().ok()?.collect();
    let calls = &store.data().traces.calls;
    let call = calls.iter().rev().find(|(task, _)| stack.contains(task));
    call.map(|(_, context)| context.clone())
}
