//! A body on its way from a guest to whoever reads it: one writer in a store, one reader outside, a bounded buffer.
//!
//! A pipe never presents a cut body as a whole one: it ends well only when the data ended, the trailers came, and the
//! length is the one that was announced.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;
use http_body::Frame;

use crate::engine::{since_tick, ticks};
use crate::instance::Shared;

/// How much a guest may write before somebody reads: enough that a usual page leaves the guest in one go.
const CAPACITY: usize = 64 * 1024;

/// Why a body did not end well.
#[derive(Clone, Debug, thiserror::Error)]
pub enum BodyError {
    #[error("the body has {actual} bytes where content-length announced {announced}")]
    Length { announced: u64, actual: u64 },
    #[error("the body is longer than the {limit} bytes allowed")]
    TooLarge { limit: u64 },
    #[error("the guest gave up the body: {0}")]
    Guest(String),
    #[error("the guest ended before the body did")]
    Cut,
    #[error("the peer sent nothing for too long")]
    Stalled,
    #[error("the connection failed: {0}")]
    Connection(String),
}

/// What became of one write.
pub enum Written {
    /// So many bytes were taken, at least one unless none were offered.
    Taken(usize),
    /// Nobody will read any more.
    Closed,
}

/// A pipe's shared state; [`Pipe`] is the writer's end, [`PipeReader`] the reader's.
#[derive(Debug, Default)]
struct State {
    chunks: VecDeque<Bytes>,
    buffered: usize,
    received: u64,
    announced: Option<u64>,
    data_ended: bool,
    /// `Some` once the guest said that the body is whole, with trailers or without.
    trailers: Option<Option<HeaderMap>>,
    failed: Option<BodyError>,
    reader_gone: bool,
    delivered: bool,
    reader: Option<Waker>,
    writer: Option<Waker>,
    result: Option<Waker>,
    /// The instance whose guest writes.
    owner: Option<Arc<Shared>>,
    /// The tick since which the reader takes nothing of what there is.
    taken_at: u64,
}

/// The writer's end, held by the store's stream and future consumers.
#[derive(Clone, Debug)]
pub struct Pipe(Arc<Mutex<State>>);

/// The reader's end; dropping it tells the guest that nobody reads.
#[derive(Debug)]
pub struct PipeReader(Arc<Mutex<State>>);

/// A body that is read while its guest still writes, as its instance knows it.
#[derive(Debug)]
pub struct Stream(Weak<Mutex<State>>);

impl Stream {
    /// Whether there is still something of it.
    pub fn is_left(&self) -> bool {
        self.0.strong_count() > 0
    }

    /// Whether somebody reads it, and does not leave what there is for longer than `patience`. That the guest has nothing
    /// to say for the moment is no fault of the reader's.
    pub fn is_read(&self, patience: Duration) -> bool {
        let Some(state) = self.0.upgrade() else {
            return false;
        };
        let state = lock(&state);
        let takes = state.buffered == 0 || since_tick(state.taken_at) <= patience;
        takes && !state.reader_gone && !state.delivered
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    // Nothing in this file panics while it holds the lock, so that it is never poisoned; if it were, go on.
    state
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn wake(waker: &mut Option<Waker>) {
    if let Some(waker) = waker.take() {
        waker.wake();
    }
}

impl State {
    fn fail(&mut self, error: BodyError) {
        if self.failed.is_none() && !self.delivered {
            self.failed = Some(error);
        }
        wake(&mut self.reader);
        wake(&mut self.writer);
        wake(&mut self.result);
    }

    /// The body is whole as far as the guest is concerned.
    fn ended(&self) -> bool {
        self.data_ended && self.trailers.is_some()
    }

    fn check_length(&mut self) {
        if let Some(announced) = self.announced
            && self.ended()
            && self.received != announced
        {
            let actual = self.received;
            self.fail(BodyError::Length { announced, actual });
        }
    }
}

impl Pipe {
    /// A pipe for a guest of the instance `owner`, whose body will have `announced` bytes, if known.
    pub fn new(announced: Option<u64>, owner: Arc<Shared>) -> Self {
        Pipe(Arc::new(Mutex::new(State {
            announced,
            owner: Some(owner),
            ..State::default()
        })))
    }

    pub fn reader(&self) -> PipeReader {
        PipeReader(self.0.clone())
    }

    /// There is no body to deliver.
    pub fn set_delivered(&self) {
        lock(&self.0).delivered = true;
    }

    /// Takes as much of `bytes` as there is room for; waits while there is none.
    pub fn poll_write(&self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<Written> {
        let mut state = lock(&self.0);
        if state.reader_gone || state.failed.is_some() {
            return Poll::Ready(Written::Closed);
        }
        let room = CAPACITY.saturating_sub(state.buffered);
        if room == 0 {
            state.writer = Some(cx.waker().clone());
            return Poll::Pending;
        }
        let taken = room.min(bytes.len());
        let received = state.received + taken as u64;
        if let Some(announced) = state.announced
            && received > announced
        {
            let actual = state.received + bytes.len() as u64;
            state.fail(BodyError::Length { announced, actual });
            return Poll::Ready(Written::Closed);
        }
        if taken > 0 {
            state.received = received;
            if state.buffered == 0 {
                state.taken_at = ticks();
            }
            state.buffered += taken;
            state
                .chunks
                .push_back(Bytes::copy_from_slice(&bytes[..taken]));
            wake(&mut state.reader);
        }
        Poll::Ready(Written::Taken(taken))
    }

    /// How much can be written now; `None` when nobody reads any more.
    pub fn room(&self) -> Option<usize> {
        let state = lock(&self.0);
        let closed = state.reader_gone || state.failed.is_some();
        (!closed).then(|| CAPACITY.saturating_sub(state.buffered))
    }

    /// Waits until there is room, or nobody reads.
    pub fn poll_room(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = lock(&self.0);
        if state.reader_gone || state.failed.is_some() || state.buffered < CAPACITY {
            return Poll::Ready(());
        }
        state.writer = Some(cx.waker().clone());
        Poll::Pending
    }

    /// Why the body will never be whole, if that is known.
    pub fn failure(&self) -> Option<BodyError> {
        lock(&self.0).failed.clone()
    }

    /// The guest closed its stream.
    pub fn end_data(&self) {
        let mut state = lock(&self.0);
        state.data_ended = true;
        state.check_length();
        wake(&mut state.reader);
    }

    /// The guest said how the body ends.
    pub fn end_trailers(&self, trailers: Result<Option<HeaderMap>, String>) {
        let mut state = lock(&self.0);
        match trailers {
            Ok(trailers) => {
                state.trailers = Some(trailers);
                state.check_length();
                wake(&mut state.reader);
            }
            Err(reason) => state.fail(BodyError::Guest(reason)),
        }
    }

    /// The guest is gone; no effect on a body that had ended before.
    pub fn cut(&self) {
        let mut state = lock(&self.0);
        if !state.ended() {
            state.fail(BodyError::Cut);
        }
    }

    /// Waits for the fate of the body: delivered whole, or not.
    pub fn poll_result(&self, cx: &mut Context<'_>) -> Poll<Result<(), BodyError>> {
        let mut state = lock(&self.0);
        if let Some(error) = &state.failed {
            return Poll::Ready(Err(error.clone()));
        }
        if state.delivered {
            return Poll::Ready(Ok(()));
        }
        if state.reader_gone {
            return Poll::Ready(Err(BodyError::Connection("closed by the reader".into())));
        }
        state.result = Some(cx.waker().clone());
        Poll::Pending
    }
}

impl PipeReader {
    /// The next piece: data, then trailers if there are some, then `None`.
    pub fn poll_frame(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let mut state = lock(&self.0);
        // A body that is known to be wrong is cut as soon as possible, so that nobody takes it for a whole one.
        if let Some(error) = &state.failed {
            return Poll::Ready(Some(Err(error.clone())));
        }
        if let Some(chunk) = state.chunks.pop_front() {
            state.buffered -= chunk.len();
            state.taken_at = ticks();
            wake(&mut state.writer);
            return Poll::Ready(Some(Ok(Frame::data(chunk))));
        }
        if !state.ended() {
            state.reader = Some(cx.waker().clone());
            return Poll::Pending;
        }
        state.delivered = true;
        wake(&mut state.result);
        match state.trailers.as_mut().and_then(Option::take) {
            Some(trailers) => Poll::Ready(Some(Ok(Frame::trailers(trailers)))),
            None => Poll::Ready(None),
        }
    }

    /// The whole body, if it has ended, is in one piece or empty, and has no trailers; or why it will never be whole. One
    /// that has not ended keeps its instance alive from now on, for as long as it is read.
    pub fn take_whole(&mut self) -> Option<Result<Bytes, BodyError>> {
        let mut state = lock(&self.0);
        if let Some(error) = &state.failed {
            return Some(Err(error.clone()));
        }
        if !state.ended() {
            let owner = state.owner.clone();
            drop(state);
            if let Some(owner) = owner {
                owner.streams(Stream(Arc::downgrade(&self.0)));
            }
            return None;
        }
        if state.chunks.len() > 1 || state.trailers != Some(None) {
            return None;
        }
        state.delivered = true;
        state.buffered = 0;
        wake(&mut state.result);
        Some(Ok(state.chunks.pop_front().unwrap_or_default()))
    }

    /// Nothing more will come.
    pub fn is_end(&self) -> bool {
        let state = lock(&self.0);
        state.failed.is_none()
            && state.chunks.is_empty()
            && state.ended()
            && state.trailers.as_ref().is_none_or(Option::is_none)
    }

    /// How many bytes are still to come, if that was announced.
    pub fn remaining(&self) -> Option<u64> {
        let state = lock(&self.0);
        let announced = state.announced?;
        Some(announced - state.received.min(announced) + state.buffered as u64)
    }
}

impl Drop for PipeReader {
    fn drop(&mut self) {
        let mut state = lock(&self.0);
        state.reader_gone = true;
        state.chunks.clear();
        if let Some(owner) = &state.owner {
            owner.note_progress();
        }
        wake(&mut state.writer);
        wake(&mut state.result);
    }
}
