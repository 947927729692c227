//! One core's share of the host: its instances of every component, and the queue in front of them.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use crate::call::{Call, CallError, Reply};
use crate::component::Loaded;
use crate::engine::Wasi;
use crate::instance::{Instance, Retirement, Shared};
use crate::limits::{Limits, Range};
use crate::message::{Request, Response};
use crate::metrics;
use crate::quota::{Limit, Quota};

/// How often instances are looked at for time limits and idleness.
const SWEEP: Duration = Duration::from_millis(50);

/// The limits that count over all cores.
pub struct Shares {
    instances: Limit,
    concurrent_requests: Limit,
    queue: Limit,
}

impl Shares {
    pub fn new(limits: &Limits, cores: usize) -> Self {
        Shares {
            instances: Limit::new(limits.instances, cores),
            concurrent_requests: Limit::new(limits.concurrent_requests, cores),
            queue: Limit::new(limits.queue, cores),
        }
    }
}

/// What a core owns. Nothing of it is shared with other cores but what its quotas take from.
pub struct Core {
    limits: Limits,
    components: Vec<Component>,
    instances: Quota,
    in_flight: Quota,
    waiting: Quota,
    room: Notify,
    sweeping: Cell<bool>,
    created: Cell<u64>,
}

struct Component {
    loaded: Arc<Loaded>,
    /// The one used last is the last.
    instances: RefCell<Vec<Rc<Instance>>>,
}

impl Core {
    /// A core for `components`, which takes what it needs from `shares`.
    pub fn new(components: &[Arc<Loaded>], limits: Limits, shares: &Shares) -> Rc<Self> {
        Rc::new(Core {
            limits,
            components: components
                .iter()
                .map(|loaded| Component {
                    loaded: loaded.clone(),
                    instances: RefCell::default(),
                })
                .collect(),
            instances: shares.instances.quota(),
            in_flight: shares.concurrent_requests.quota(),
            waiting: shares.queue.quota(),
            room: Notify::new(),
            sweeping: Cell::new(false),
            created: Cell::new(0),
        })
    }

    /// Has component `index` answer `request`: at once where there is room, else after a wait in the queue.
    pub async fn call(
        self: &Rc<Self>,
        index: usize,
        request: Request,
    ) -> Result<Response, CallError> {
        let reply = Arc::new(Reply::default());
        let mut call = Call {
            request,
            reply: reply.clone(),
            deadline: Instant::now() + self.limits.request_time,
        };
        // Whoever waits already comes first.
        if self.waiting.used() > 0 {
            self.wait(call.deadline).await?;
        }
        while let Some(back) = self.place(index, call) {
            call = back;
            self.wait(call.deadline).await?;
        }
        Answer { core: self, reply }.await
    }

    /// Waits for room in the queue, if that has room itself.
    async fn wait(self: &Rc<Self>, deadline: Instant) -> Result<(), CallError> {
        if !self.waiting.take() {
            return Err(CallError::Overloaded);
        }
        let _queued = metrics::Held::new(|core| &core.queued);
        let _waiting = GiveBack(&self.waiting);
        // What another core gives back is not told to this one: the sweep looks for it.
        self.ensure_sweeping();
        tokio::time::timeout_at(deadline.into(), self.room.notified())
            .await
            .map_err(|_| CallError::Overloaded)
    }

    /// Puts the call into an instance that has room, or into a new one; it comes back if neither can be had.
    fn place(self: &Rc<Self>, index: usize, mut call: Call) -> Option<Call> {
        // Counted before the guest runs; the answer's drop takes it back, and so does a failure below.
        if !self.in_flight.take() {
            return Some(call);
        }
        let component = &self.components[index];
        loop {
            let instance = component
                .instances
                .borrow()
                .iter()
                .rev()
                .find(|i| i.has_room())
                .cloned();
            let Some(instance) = instance else { break };
            call = instance.call(call)?;
        }
        let place = self.instances.take() || (self.evict_idle() && self.instances.take());
        if !place {
            self.in_flight.give_back();
            return Some(call);
        }
        // A new instance takes its first call whatever happens.
        self.create(index).call(call)
    }

    /// Makes an instance; its place was taken already.
    fn create(self: &Rc<Self>, index: usize) -> Rc<Instance> {
        let component = &self.components[index];
        let shared = Arc::new(Shared::default());
        let seed = self.created.get();
        self.created.set(seed + 1);
        metrics::component(index, |counters| counters.created.one());
        let core = Rc::downgrade(self);
        let (reuse, concurrent) = match component.loaded.wasi() {
            Wasi::P2 => (self.limits.p2_instance_reuse, Range::exactly(1)),
            Wasi::P3 => (self.limits.instance_reuse, self.limits.instance_concurrency),
        };
        let instance = Instance::new(
            shared.clone(),
            component.loaded.start(shared),
            reuse.draw(seed),
            concurrent.draw(seed) as usize,
            Box::new(move |instance, why| {
                if let Some(core) = core.upgrade() {
                    core.ended(index, instance, why);
                }
            }),
        );
        component.instances.borrow_mut().push(instance.clone());
        self.ensure_sweeping();
        instance
    }

    fn ended(&self, index: usize, instance: &Instance, why: Retirement) {
        tracing::debug!(?why, "instance retired");
        self.instances.give_back();
        metrics::component(index, |counters| {
            counters.retired.of(why).one();
            if let Some(kind) = instance.trap() {
                counters.traps.of(kind).one();
            }
        });
        let mut instances = self.components[index].instances.borrow_mut();
        if let Some(position) = instances.iter().rposition(|i| i.is(instance)) {
            instances.remove(position);
        }
        self.room.notify_one();
    }

    /// Makes room for a new instance by ending one, of whatever component, that has nothing to do.
    fn evict_idle(&self) -> bool {
        let idle = self
            .components
            .iter()
            .find_map(|c| c.instances.borrow().iter().find(|i| i.is_idle()).cloned());
        idle.map(|instance| instance.kill(Retirement::Idle))
            .is_some()
    }

    /// Looks after the instances and the queue for as long as there is something in them.
    fn ensure_sweeping(self: &Rc<Self>) {
        if self.sweeping.replace(true) {
            return;
        }
        let core = self.clone();
        tokio::task::spawn_local(async move {
            while core.instances.used() > 0 || core.waiting.used() > 0 {
                tokio::time::sleep(SWEEP).await;
                let now = Instant::now();
                for component in &core.components {
                    let instances = component.instances.borrow().clone();
                    for instance in instances {
                        instance.sweep(now, &core.limits);
                    }
                }
                // There may be room without an answer of this core having gone out: another core gave it back, or a
                // client had left. Who is woken and finds none waits again.
                if core.in_flight.may_take() {
                    for _ in 0..core.waiting.used() {
                        core.room.notify_one();
                    }
                }
            }
            core.sweeping.set(false);
        });
    }

    /// Ends every instance, whatever it does.
    pub fn shut_down(&self) {
        for component in &self.components {
            let instances = component.instances.borrow().clone();
            for instance in instances {
                instance.kill(Retirement::Shutdown);
            }
        }
    }
}

struct GiveBack<'a>(&'a Quota);

impl Drop for GiveBack<'_> {
    fn drop(&mut self) {
        self.0.give_back();
    }
}

/// Waits for a reply. Dropped before, it tells the guest's side that nobody waits.
struct Answer<'a> {
    core: &'a Core,
    reply: Arc<Reply>,
}

impl Future for Answer<'_> {
    type Output = Result<Response, CallError>;

    fn poll(self: std::pin::Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.reply.poll(cx)
    }
}

impl Drop for Answer<'_> {
    fn drop(&mut self) {
        self.reply.close();
        self.core.in_flight.give_back();
        if self.core.waiting.used() > 0 {
            self.core.room.notify_one();
        }
    }
}
