//! One instance of a component, owned by one core: its store's event loop as a future that is polled inline by whoever
//! brings a request, and by a driver task when the guest had to wait.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

use futures::task::AtomicWaker;

use crate::call::{Call, CallError, Reply};
use crate::engine::{since_tick, ticks};
use crate::failure;
use crate::limits::Limits;
pub use crate::metrics::Retirement;
use crate::metrics::TrapKind;
use crate::pipe::Stream;

/// How often one poll goes on because of wakes raised during it, before the rest of the core gets its turn.
const INLINE_POLLS: usize = 4;

/// The event loop of an instance; it ends when the instance is retired and at rest, or fails with its guest.
pub type EventLoop = Pin<Box<dyn Future<Output = wasmtime::Result<()>>>>;

/// What the event loop inside and the pool outside both know of an instance.
#[derive(Debug, Default)]
pub struct Shared {
    inbox: Mutex<VecDeque<Call>>,
    /// Calls that the guest works on.
    active: Mutex<Vec<Active>>,
    /// Bodies that go out while the guest goes on.
    streams: Mutex<Vec<Stream>>,
    retired: AtomicBool,
    at_rest: AtomicBool,
    dying: AtomicBool,
    busy: AtomicBool,
    woken: AtomicBool,
    inside: AtomicBool,
    polled_at: AtomicU64,
    /// How many turns the event loop has made.
    turns: AtomicU64,
    /// The tick at which a body's data was taken last.
    progress: AtomicU64,
    /// The guest asked for more memory than it may have.
    memory_denied: AtomicBool,
    driver: AtomicWaker,
}

#[derive(Debug)]
struct Active {
    reply: Arc<Reply>,
    deadline: Instant,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}

impl Shared {
    /// The next call for the event loop. It counts as active from now on.
    pub fn take_call(&self) -> Option<Call> {
        let call = lock(&self.inbox).pop_front()?;
        self.at_rest.store(false, Ordering::Relaxed);
        lock(&self.active).push(Active {
            reply: call.reply.clone(),
            deadline: call.deadline,
        });
        Some(call)
    }

    /// The guest is done with the call that `reply` belongs to.
    pub fn finished(&self, reply: &Arc<Reply>) {
        let mut active = lock(&self.active);
        if let Some(index) = active.iter().position(|a| Arc::ptr_eq(&a.reply, reply)) {
            active.swap_remove(index);
        }
    }

    /// Told by the event loop at each turn, whose first act it is to look at everything that woke it.
    pub fn begin_turn(&self) {
        self.woken.store(false, Ordering::SeqCst);
        self.turns.fetch_add(1, Ordering::Relaxed);
    }

    /// A body moved on.
    pub fn note_progress(&self) {
        self.progress.store(ticks(), Ordering::Relaxed);
    }

    /// `stream` goes out while the guest goes on.
    pub fn streams(&self, stream: Stream) {
        let mut streams = lock(&self.streams);
        streams.retain(Stream::is_left);
        streams.push(stream);
    }

    /// Whether somebody reads what the guest sends, within `patience`.
    fn is_read(&self, patience: Duration) -> bool {
        let mut streams = lock(&self.streams);
        streams.retain(|stream| stream.is_read(patience));
        !streams.is_empty()
    }

    pub fn set_at_rest(&self, at_rest: bool) {
        self.at_rest.store(at_rest, Ordering::Relaxed);
    }

    pub fn is_retired(&self) -> bool {
        self.retired.load(Ordering::Relaxed)
    }

    pub fn set_memory_denied(&self) {
        self.memory_denied.store(true, Ordering::Relaxed);
    }

    fn memory_denied(&self) -> bool {
        self.memory_denied.load(Ordering::Relaxed)
    }

    pub fn set_dying(&self) {
        self.dying.store(true, Ordering::Relaxed);
    }

    /// The store is about to be dropped with whatever the guest was doing.
    pub fn is_dying(&self) -> bool {
        self.dying.load(Ordering::Relaxed)
    }

    /// Called at an epoch's end while the guest runs: true when it has run long enough and others should.
    pub fn should_yield(&self) -> bool {
        let long = ticks().saturating_sub(self.polled_at.load(Ordering::Relaxed)) > 1;
        if long {
            self.busy.store(true, Ordering::Relaxed);
        }
        long
    }
}

impl Wake for Shared {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.woken.store(true, Ordering::SeqCst);
        if !self.inside.load(Ordering::SeqCst) {
            self.driver.wake();
        }
    }
}

/// Told once when an instance has ended, and why.
pub type OnEnd = Box<dyn Fn(&Instance, Retirement)>;

/// An instance as its core's pool sees it.
pub struct Instance {
    shared: Arc<Shared>,
    waker: Waker,
    event_loop: RefCell<Option<EventLoop>>,
    driven: Cell<bool>,
    accepted: Cell<u32>,
    max_reuse: u32,
    max_concurrent: usize,
    last_used: Cell<Instant>,
    busy_since: Cell<Option<Instant>>,
    /// The turn after which it could not take a call: it waits in the middle of one.
    refused_at: Cell<Option<u64>>,
    ended: Cell<Option<Retirement>>,
    trap: Cell<Option<TrapKind>>,
    on_end: OnEnd,
}

impl Instance {
    /// An instance that serves `max_reuse` calls in its life, `max_concurrent` at a time. `on_end` is called once, when its store is gone.
    pub fn new(
        shared: Arc<Shared>,
        event_loop: EventLoop,
        max_reuse: u32,
        max_concurrent: usize,
        on_end: OnEnd,
    ) -> Rc<Self> {
        Rc::new(Instance {
            waker: shared.clone().into(),
            shared,
            event_loop: RefCell::new(Some(event_loop)),
            driven: Cell::new(false),
            accepted: Cell::new(0),
            max_reuse,
            max_concurrent,
            last_used: Cell::new(Instant::now()),
            busy_since: Cell::new(None),
            refused_at: Cell::new(None),
            ended: Cell::new(None),
            trap: Cell::new(None),
            on_end,
        })
    }

    /// Whether it can take another call now.
    pub fn has_room(&self) -> bool {
        self.ended.get().is_none()
            && !self.shared.is_retired()
            && self.busy_since.get().is_none()
            && self.refused_at.get() != Some(self.shared.turns.load(Ordering::Relaxed))
            && lock(&self.shared.active).len() + lock(&self.shared.inbox).len()
                < self.max_concurrent
    }

    /// Whether it could be ended without harm.
    pub fn is_idle(&self) -> bool {
        self.ended.get().is_none() && self.shared.at_rest.load(Ordering::Relaxed)
    }

    /// Gives it a call and lets it work at once. The call comes back if the guest could not take it now.
    pub fn call(self: &Rc<Self>, call: Call) -> Option<Call> {
        let reply = call.reply.clone();
        self.last_used.set(Instant::now());
        self.accepted.set(self.accepted.get() + 1);
        lock(&self.shared.inbox).push_back(call);
        if self.accepted.get() >= self.max_reuse {
            self.shared.retired.store(true, Ordering::Relaxed);
        }
        if self.drive() {
            self.shared.driver.wake();
        }
        let mut inbox = lock(&self.shared.inbox);
        match inbox
            .iter()
            .position(|call| Arc::ptr_eq(&call.reply, &reply))
        {
            // A new instance that is still being created keeps its first call.
            Some(index) if self.accepted.get() > 1 => {
                self.refused_at
                    .set(Some(self.shared.turns.load(Ordering::Relaxed)));
                self.accepted.set(self.accepted.get() - 1);
                self.shared
                    .retired
                    .store(self.accepted.get() >= self.max_reuse, Ordering::Relaxed);
                inbox.remove(index)
            }
            _ => None,
        }
    }

    /// Polls the event loop until it has nothing more to do at once; true when it should be polled again soon.
    fn drive(self: &Rc<Self>) -> bool {
        let Ok(mut slot) = self.event_loop.try_borrow_mut() else {
            return false;
        };
        let Some(event_loop) = slot.as_mut() else {
            return false;
        };
        let shared = &self.shared;
        let mut cx = Context::from_waker(&self.waker);
        let mut outcome = Poll::Pending;
        for _ in 0..INLINE_POLLS {
            shared.polled_at.store(ticks(), Ordering::Relaxed);
            shared.busy.store(false, Ordering::Relaxed);
            shared.woken.store(false, Ordering::SeqCst);
            shared.inside.store(true, Ordering::SeqCst);
            outcome = event_loop.as_mut().poll(&mut cx);
            shared.inside.store(false, Ordering::SeqCst);
            let go_on = shared.woken.load(Ordering::SeqCst) && !shared.busy.load(Ordering::Relaxed);
            if outcome.is_ready() || !go_on {
                break;
            }
        }
        match outcome {
            Poll::Ready(Ok(())) => self.end(&mut slot, Retirement::Reused, None),
            Poll::Ready(Err(error)) => {
                let text: Arc<str> = describe(&error).into();
                tracing::warn!(reason = %text, "instance ended with its guest's failure");
                let kind = failure::kind(&error, self.shared.memory_denied());
                self.trap.set(Some(kind));
                self.end(
                    &mut slot,
                    failure::retirement(kind),
                    Some(CallError::Trap(text)),
                );
            }
            Poll::Pending => {
                if shared.busy.load(Ordering::Relaxed) {
                    if self.busy_since.get().is_none() {
                        self.busy_since.set(Some(Instant::now()));
                    }
                } else {
                    self.busy_since.set(None);
                }
                drop(slot);
                self.ensure_driver();
                return shared.woken.load(Ordering::SeqCst);
            }
        }
        false
    }

    /// A guest that had to wait is driven by a task of its own from now on.
    fn ensure_driver(self: &Rc<Self>) {
        if self.driven.replace(true) {
            return;
        }
        let instance = self.clone();
        tokio::task::spawn_local(async move {
            let shared = instance.shared.clone();
            loop {
                std::future::poll_fn(|cx| {
                    shared.driver.register(cx.waker());
                    if instance.ended.get().is_some() || shared.woken.load(Ordering::SeqCst) {
                        Poll::Ready(())
                    } else {
                        Poll::Pending
                    }
                })
                .await;
                if instance.ended.get().is_some() {
                    return;
                }
                if instance.drive() {
                    // A guest that computes or yields: first everything else of this core, sockets and timers too.
                    tokio::task::yield_now().await;
                }
            }
        });
    }

    /// Ends what is past its time.
    pub fn sweep(self: &Rc<Self>, now: Instant, limits: &Limits) {
        if self.ended.get().is_some() {
            return;
        }
        let mut expired = false;
        let mut left = false;
        for call in lock(&self.shared.active).iter() {
            if call.reply.is_answered() {
                // Its body may take longer than the answer.
            } else if call.deadline <= now {
                expired = true;
                call.reply.set(Err(CallError::Timeout));
            } else {
                left = true;
            }
        }
        lock(&self.shared.inbox).retain(|call| {
            let late = call.deadline <= now;
            if late {
                expired = true;
                call.reply.set(Err(CallError::Timeout));
            } else {
                left = true;
            }
            !late
        });
        if expired {
            self.shared.retired.store(true, Ordering::Relaxed);
        }
        let since = |instant: Instant| now.saturating_duration_since(instant);
        let unused = since(self.last_used.get());
        let progress = since_tick(self.shared.progress.load(Ordering::Relaxed));
        let at_rest = self.shared.at_rest.load(Ordering::Relaxed);
        let limit = limits.request_time;
        let stuck = self
            .busy_since
            .get()
            .is_some_and(|start| since(start) > limit);
        if stuck || (expired && !left) {
            self.kill(Retirement::Timeout);
        } else if at_rest && unused >= limits.instance_idle {
            self.kill(Retirement::Idle);
        } else if !left
            && !at_rest
            && unused.min(progress) > limit
            && !self.shared.is_read(limits.client_pause)
        {
            // Everything is answered and nobody reads a body any more; what the guest still does has had its time too.
            self.kill(Retirement::Timeout);
        }
    }

    /// Drops the store with whatever the guest was doing.
    pub fn kill(self: &Rc<Self>, why: Retirement) {
        if let Ok(mut slot) = self.event_loop.try_borrow_mut() {
            let error = match why {
                Retirement::Timeout => CallError::Timeout,
                _ => CallError::NoResponse,
            };
            self.end(&mut slot, why, Some(error));
        }
    }

    fn end(&self, slot: &mut Option<EventLoop>, why: Retirement, error: Option<CallError>) {
        if self.ended.get().is_some() {
            return;
        }
        if error.is_some() {
            self.shared.set_dying();
        }
        self.ended.set(Some(why));
        drop(slot.take());
        let error = error.unwrap_or(CallError::NoResponse);
        for call in std::mem::take(&mut *lock(&self.shared.active)) {
            call.reply.set(Err(error.clone()));
        }
        for call in std::mem::take(&mut *lock(&self.shared.inbox)) {
            call.reply.set(Err(error.clone()));
        }
        self.shared.driver.wake();
        (self.on_end)(self, why);
    }

    /// What its guest's failure was, if it ended with one.
    pub fn trap(&self) -> Option<TrapKind> {
        self.trap.get()
    }

    pub fn is(&self, other: &Instance) -> bool {
        std::ptr::eq(self, other)
    }
}

/// A guest's failure in one line: what happened, without the backtrace.
fn describe(error: &wasmtime::Error) -> String {
    error.root_cause().to_string()
}
