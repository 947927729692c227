//! The end of the host's life: told once, seen by every core.

use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use tokio::sync::Notify;

const SERVING: u8 = 0;
const NOT_READY: u8 = 1;
const DRAINING: u8 = 2;
const OVER: u8 = 3;

/// Where the host is between serving and gone.
#[derive(Debug, Default)]
pub struct Drain {
    phase: AtomicU8,
    changed: Notify,
}

impl Drain {
    /// Whether a load balancer should send requests here.
    pub fn is_ready(&self) -> bool {
        self.phase.load(Ordering::Relaxed) == SERVING
    }

    fn set(&self, phase: u8) {
        self.phase.store(phase, Ordering::SeqCst);
        self.changed.notify_waiters();
    }

    /// Waits until connections should finish what they have and take nothing new.
    pub async fn draining(&self) {
        self.until(DRAINING).await;
    }

    /// Waits until whatever is left should be dropped.
    pub async fn over(&self) {
        self.until(OVER).await;
    }

    async fn until(&self, phase: u8) {
        loop {
            let mut changed = std::pin::pin!(self.changed.notified());
            // Enabled before the check, so that a change between the two is not missed.
            changed.as_mut().enable();
            if self.phase.load(Ordering::SeqCst) >= phase {
                return;
            }
            changed.await;
        }
    }

    /// Runs the drain: not ready, a `delay` for load balancers, no more connections, and the end after `grace`. A
    /// second signal ends it at once; `again` resolves when that comes.
    pub async fn run(&self, delay: Duration, grace: Duration, again: impl Future<Output = ()>) {
        let orderly = async {
            self.set(NOT_READY);
            tokio::time::sleep(delay).await;
            self.set(DRAINING);
            tokio::time::sleep(grace).await;
        };
        tokio::select! {
            () = orderly => {}
            () = again => {}
        }
        self.set(OVER);
    }
}
