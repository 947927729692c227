//! Metrics: every core counts for itself, without a lock or an allocation, and only when somebody asked for it
//! (`--admin-listen`); a scrape adds up. Where there are no counters, a hook is a look at a thread's own variable.

mod counters;
mod kinds;
mod scrape;
mod text;

use std::cell::OnceCell;
use std::sync::Arc;

pub use self::counters::{ComponentCounters, CoreCounters, Count};
pub use self::kinds::{Failure, Kind, Outcome, Retirement, Status, TrapKind};
pub use self::scrape::Scrape;

thread_local! {
    static HERE: OnceCell<Arc<CoreCounters>> = const { OnceCell::new() };
}

/// Has this thread count in `counters` from now on.
pub fn enter(counters: Arc<CoreCounters>) {
    HERE.with(|here| {
        // A core's thread enters once.
        let _ = here.set(counters);
    });
}

/// Counts, if this thread does.
pub fn here(count: impl FnOnce(&CoreCounters)) {
    // Gone only while the thread ends, when nobody reads any more.
    let _ = HERE.try_with(|here| {
        if let Some(counters) = here.get() {
            count(counters);
        }
    });
}

/// Counts for one component, if this thread does.
pub fn component(index: usize, count: impl FnOnce(&ComponentCounters)) {
    here(|core| count(core.component(Some(index))));
}

/// Counts one up in a gauge of this core until it is dropped.
#[derive(Debug)]
pub struct Held(fn(&CoreCounters) -> &Count);

impl Held {
    pub fn new(gauge: fn(&CoreCounters) -> &Count) -> Self {
        here(|core| gauge(core).one());
        Held(gauge)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        here(|core| (self.0)(core).one_less());
    }
}
