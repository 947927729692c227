//! What one core counts. Only that core writes, so that counting is a plain load and store; a scrape reads all cores and
//! adds up.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use super::kinds::{ByKind, Failure, Outcome, Retirement, Status, TrapKind};

/// Upper bounds of the latency histogram, in microseconds.
pub const BOUNDS: [u64; 16] = [
    50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000,
    1_000_000, 5_000_000, 30_000_000,
];

/// A number with one writer.
#[derive(Default)]
pub struct Count(AtomicU64);

impl Count {
    pub fn add(&self, number: u64) {
        self.set(self.get().wrapping_add(number));
    }

    pub fn one(&self) {
        self.add(1);
    }

    pub fn one_less(&self) {
        self.set(self.get().saturating_sub(1));
    }

    pub fn set(&self, number: u64) {
        self.0.store(number, Relaxed);
    }

    pub fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

#[derive(Default)]
pub struct Histogram {
    /// Not cumulative; the last is everything above all bounds.
    pub buckets: [Count; BOUNDS.len() + 1],
    pub microseconds: Count,
}

impl Histogram {
    fn record(&self, took: Duration) {
        // Half a million years fit.
        let microseconds = took.as_micros() as u64;
        self.buckets[BOUNDS.partition_point(|bound| *bound < microseconds)].one();
        self.microseconds.add(microseconds);
    }
}

/// What is counted of one component, on one core.
#[derive(Default)]
pub struct ComponentCounters {
    /// Requests that reached the component; those without an answer yet are in flight.
    pub started: Count,
    pub requests: ByKind<Status>,
    pub latency: Histogram,
    pub failures: ByKind<Failure>,
    pub created: Count,
    pub retired: ByKind<Retirement>,
    pub traps: ByKind<TrapKind>,
    pub outbound: ByKind<Outcome>,
}

impl ComponentCounters {
    /// One that started has its answer after so long.
    pub fn answered(&self, status: Status, took: Duration) {
        self.requests.of(status).one();
        if status != Status::Aborted {
            self.latency.record(took);
        }
    }
}

/// What one core counts.
pub struct CoreCounters {
    /// In the app's order, and one more for requests that reach no component.
    pub components: Box<[ComponentCounters]>,
    pub connections_accepted: Count,
    pub connections: Count,
    pub queued: Count,
    pub outbound_created: Count,
    pub outbound_open: Count,
    pub outbound_lent: Count,
}

impl CoreCounters {
    pub fn new(components: usize) -> Self {
        CoreCounters {
            components: (0..=components)
                .map(|_| ComponentCounters::default())
                .collect(),
            connections_accepted: Count::default(),
            connections: Count::default(),
            queued: Count::default(),
            outbound_created: Count::default(),
            outbound_open: Count::default(),
            outbound_lent: Count::default(),
        }
    }

    /// The counters of a component, or those of no component.
    pub fn component(&self, index: Option<usize>) -> &ComponentCounters {
        let last = self.components.len() - 1;
        &self.components[index.map_or(last, |index| index.min(last))]
    }
}
