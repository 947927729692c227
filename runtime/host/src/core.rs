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

/// How often instances are looked at for time limits and idleness.
const SWEEP: Duration = Duration::from_millis(50);

/// What a core owns. Nothing of it is shared with other cores.
pub struct Core {
    limits: Limits,
    components: Vec<Component>,
    instances: Cell<usize>,
    in_flight: Cell<usize>,
    waiting: Cell<usize>,
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
    /// A core for `components`, with `limits` that are this core's share already.
    pub fn new(components: &[Arc<Loaded>], limits: Limits) -> Rc<Self> {
        Rc::new(Core {
            limits,
            components: components
                .iter()
                .map(|loaded| Component {
                    loaded: loaded.clone(),
                    instances: RefCell::default(),
                })
                .collect(),
            instances: Cell::new(0),
            in_flight: Cell::new(0),
            waiting: Cell::new(0),
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
        if self.waiting.get() > 0 {
            self.wait(call.deadline).await?;
        }
        while let Some(back) = self.place(index, call) {
            call = back;
            self.wait(call.deadline).await?;
        }
        Answer { core: self, reply }.await
    }

    /// Waits for room in the queue, if that has room itself.
    async fn wait(&self, deadline: Instant) -> Result<(), CallError> {
        if self.waiting.get() >= self.limits.queue {
            return Err(CallError::Overloaded);
        }
        self.waiting.set(self.waiting.get() + 1);
        let _waiting = Decrement(&self.waiting);
        tokio::time::timeout_at(deadline.into(), self.room.notified())
            .await
            .map_err(|_| CallError::Overloaded)
    }

    /// Puts the call into an instance that has room, or into a new one; it comes back if neither can be had.
    fn place(self: &Rc<Self>, index: usize, mut call: Call) -> Option<Call> {
        if self.in_flight.get() >= self.limits.concurrent_requests {
            return Some(call);
        }
        // Counted before the guest runs; the answer's drop takes it back, and so does a failure below.
        self.in_flight.set(self.in_flight.get() + 1);
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
        if self.instances.get() >= self.limits.instances && !self.evict_idle() {
            self.in_flight.set(self.in_flight.get() - 1);
            return Some(call);
        }
        // A new instance takes its first call whatever happens.
        self.create(index).call(call)
    }

    fn create(self: &Rc<Self>, index: usize) -> Rc<Instance> {
        let component = &self.components[index];
        let shared = Arc::new(Shared::default());
        let seed = self.created.get();
        self.created.set(seed + 1);
        self.instances.set(self.instances.get() + 1);
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
        self.instances.set(self.instances.get() - 1);
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

    /// Looks after the instances for as long as there are some.
    fn ensure_sweeping(self: &Rc<Self>) {
        if self.sweeping.replace(true) {
            return;
        }
        let core = self.clone();
        tokio::task::spawn_local(async move {
            while core.instances.get() > 0 {
                tokio::time::sleep(SWEEP).await;
                let now = Instant::now();
                for component in &core.components {
                    let instances = component.instances.borrow().clone();
                    for instance in instances {
                        instance.sweep(now, core.limits.request_time, core.limits.instance_idle);
                    }
                }
                // An instance may have got room without an answer having gone out: its client had left.
                if core.waiting.get() > 0 && core.in_flight.get() < core.limits.concurrent_requests
                {
                    core.room.notify_one();
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

struct Decrement<'a>(&'a Cell<usize>);

impl Drop for Decrement<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
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
        self.core.in_flight.set(self.core.in_flight.get() - 1);
        if self.core.waiting.get() > 0 {
            self.core.room.notify_one();
        }
    }
}
