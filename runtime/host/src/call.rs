//! One call of a guest's handler: the request on its way in, and the place where the answer appears.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use crate::message::{Request, Response};
use crate::metrics::Failure;

/// Why a guest gave no answer.
#[derive(Clone, Debug, thiserror::Error)]
pub enum CallError {
    #[error("the guest trapped: {0}")]
    Trap(Arc<str>),
    #[error("the guest answered with error {0}")]
    Guest(Arc<str>),
    #[error("the guest ended without an answer")]
    NoResponse,
    #[error("the time limit for requests passed")]
    Timeout,
    #[error("no room for another request")]
    Overloaded,
}

impl From<&CallError> for Failure {
    fn from(error: &CallError) -> Self {
        match error {
            CallError::Trap(_) => Failure::Trap,
            CallError::Guest(_) => Failure::Guest,
            CallError::NoResponse => Failure::NoResponse,
            CallError::Timeout => Failure::Timeout,
            CallError::Overloaded => Failure::Overloaded,
        }
    }
}

/// A request for an instance, not started yet.
#[derive(Debug)]
pub struct Call {
    pub request: Request,
    pub reply: Arc<Reply>,
    pub deadline: Instant,
}

/// Where an answer appears: written once in the store, read once by whoever asked.
#[derive(Debug, Default)]
pub struct Reply {
    state: Mutex<State>,
    answered: AtomicBool,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    New,
    Waiting(Waker),
    Ready(Result<Response, CallError>),
    /// Delivered, or nobody waits any more.
    Closed,
}

impl Reply {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Gives the answer; the first one counts. False when nobody took it.
    pub fn set(&self, answer: Result<Response, CallError>) -> bool {
        let mut state = self.state();
        self.answered.store(true, Ordering::Relaxed);
        match std::mem::take(&mut *state) {
            State::New => *state = State::Ready(answer),
            State::Waiting(waker) => {
                *state = State::Ready(answer);
                drop(state);
                waker.wake();
            }
            old => {
                *state = old;
                return false;
            }
        }
        true
    }

    pub fn poll(&self, cx: &mut Context<'_>) -> Poll<Result<Response, CallError>> {
        let mut state = self.state();
        match std::mem::replace(&mut *state, State::Closed) {
            State::New | State::Waiting(_) => {
                *state = State::Waiting(cx.waker().clone());
                Poll::Pending
            }
            State::Ready(answer) => Poll::Ready(answer),
            // Polled after it gave its answer: a bug of the caller, told as such.
            State::Closed => Poll::Ready(Err(CallError::NoResponse)),
        }
    }

    /// Whether the guest, or the host in its place, gave an answer, delivered or not.
    pub fn is_answered(&self) -> bool {
        self.answered.load(Ordering::Relaxed)
    }

    /// Nobody waits for the answer any more.
    pub fn close(&self) {
        *self.state() = State::Closed;
    }
}
