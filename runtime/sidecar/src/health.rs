//! Whether the store answers, found out in the background, so that no request has to find out.

use std::sync::atomic::{AtomicU8, Ordering::Relaxed};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::time::{sleep, timeout};

use crate::store::{Failure, Store};

/// How often a store that answers is asked.
const EVERY: Duration = Duration::from_secs(1);
/// How long a check waits; longer than the driver takes to say that there is no server.
const PATIENCE: Duration = Duration::from_millis(1500);
/// How soon, and how late at most, one that does not answer is asked again.
const RETRY_FIRST: Duration = Duration::from_millis(100);
const RETRY_LAST: Duration = Duration::from_secs(2);

/// After so many checks without so much as an error, the connections themselves are in doubt.
const RECONNECT_AFTER: u32 = 3;

#[derive(Default)]
pub struct Health {
    state: AtomicU8,
}

/// What the last check found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// None has ended yet.
    Unknown = 0,
    Up = 1,
    Unreachable = 2,
    /// It answered once, can still be connected to, and says nothing.
    Silent = 3,
}

impl Health {
    fn state(&self) -> State {
        match self.state.load(Relaxed) {
            1 => State::Up,
            2 => State::Unreachable,
            3 => State::Silent,
            _ => State::Unknown,
        }
    }

    /// Whether the last check passed.
    pub fn is_up(&self) -> bool {
        self.state() == State::Up
    }

    /// What a request fails with at once, because the last check already has. Before the first
    /// check has ended, requests find out for themselves.
    pub fn failure(&self) -> Option<Failure> {
        match self.state() {
            State::Up | State::Unknown => None,
            State::Unreachable => Some(Failure::Unavailable("the last check failed".to_owned())),
            State::Silent => Some(Failure::TimedOut),
        }
    }

    /// Checks for as long as it is polled. Says so when the answer changes, and only then.
    pub async fn watch(&self, store: &Store) {
        let mut retry = RETRY_FIRST;
        let mut unanswered: u32 = 0;
        loop {
            let before = self.state();
            let checked = timeout(PATIENCE, store.ping()).await;
            unanswered = if checked.is_err() { unanswered + 1 } else { 0 };
            if unanswered == RECONNECT_AFTER {
                store.reconnect();
                unanswered = 0;
            }
            let was_reached = matches!(before, State::Up | State::Silent);
            let (now, reason) = match checked {
                Ok(Ok(())) => (State::Up, String::new()),
                Ok(Err(Failure::Unavailable(reason))) => (State::Unreachable, reason),
                _ if was_reached => (State::Silent, "it does not answer".to_owned()),
                _ => (State::Unreachable, "it cannot be reached".to_owned()),
            };
            self.state.store(now as u8, Relaxed);
            match now {
                State::Up if before == State::Up => {}
                State::Up => tracing::info!("the store answers"),
                _ if now == before => {}
                _ => tracing::warn!("the store is down, asking on: {reason}"),
            }
            if now == State::Up {
                retry = RETRY_FIRST;
                sleep(EVERY).await;
            } else {
                sleep(jittered(retry)).await;
                retry = (retry * 2).min(RETRY_LAST);
            }
        }
    }
}

/// Between half of a duration and all of it, so that many sidecars do not ask in step.
fn jittered(duration: Duration) -> Duration {
    let nanos = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |now| now.subsec_nanos());
    let pid = std::process::id();
    let share = f64::from((nanos ^ pid.wrapping_mul(2_654_435_761)) % 1000) / 1000.0;
    duration.mul_f64(0.5 + share / 2.0)
}
