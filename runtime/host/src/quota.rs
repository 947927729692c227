//! A limit that counts over all cores. Each core has a part that is its own, so that none starves and taking from it is no
//! more than counting; when that is used up, it takes from what all share, one atomic operation each.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// How many parts of a limit are shared, for one that the cores have for their own: the kernel deals out connections
/// unevenly, so that a core's fair share alone would be too little for one and too much for another.
const SHARED_PARTS: usize = 3;

/// A limit of the whole host, from which each core makes its [`Quota`].
#[derive(Debug)]
pub struct Limit {
    own: usize,
    shared: Arc<AtomicUsize>,
}

impl Limit {
    /// `whole`, for `cores`.
    pub fn new(whole: usize, cores: usize) -> Self {
        let own = whole / (SHARED_PARTS + 1) / cores;
        Limit {
            own,
            shared: Arc::new(AtomicUsize::new(whole - own * cores)),
        }
    }

    /// One core's view of it.
    pub fn quota(&self) -> Quota {
        Quota {
            own: self.own,
            used: Cell::new(0),
            shared: self.shared.clone(),
        }
    }
}

/// One core's view of a limit that counts over all cores.
#[derive(Debug)]
pub struct Quota {
    own: usize,
    used: Cell<usize>,
    shared: Arc<AtomicUsize>,
}

impl Quota {
    /// Counts one more, unless the limit is reached.
    pub fn take(&self) -> bool {
        let used = self.used.get();
        if used >= self.own && !self.take_shared() {
            return false;
        }
        self.used.set(used + 1);
        true
    }

    #[cold]
    fn take_shared(&self) -> bool {
        self.shared
            .fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1))
            .is_ok()
    }

    /// Counts one less of what was taken.
    pub fn give_back(&self) {
        let used = self.used.get();
        self.used.set(used - 1);
        if used > self.own {
            self.shared.fetch_add(1, Relaxed);
        }
    }

    /// Whether one more could be taken, if no other core was faster.
    pub fn may_take(&self) -> bool {
        self.used.get() < self.own || self.shared.load(Relaxed) > 0
    }

    /// How many this core has taken.
    pub fn used(&self) -> usize {
        self.used.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take_all(quota: &Quota) -> usize {
        std::iter::from_fn(|| quota.take().then_some(())).count()
    }

    #[test]
    fn one_core_may_take_most_and_leaves_each_other_its_own() {
        let limit = Limit::new(1000, 4);
        let cores: Vec<Quota> = (0..4).map(|_| limit.quota()).collect();
        assert_eq!(take_all(&cores[0]), 750 + 62 + 2);
        assert_eq!(take_all(&cores[1]), 62);
        cores[0].give_back();
        assert!(cores[2].take() && cores[3].take());
        assert_eq!(take_all(&cores[1]), 1, "what was given back is anybody's");
    }

    #[test]
    fn all_cores_together_take_exactly_the_limit_and_give_it_back() {
        for (whole, cores) in [(1, 4), (7, 2), (1000, 3), (0, 1), (20, 1)] {
            let limit = Limit::new(whole, cores);
            let quotas: Vec<Quota> = (0..cores).map(|_| limit.quota()).collect();
            for _ in 0..2 {
                let taken: Vec<usize> = quotas.iter().map(take_all).collect();
                assert_eq!(taken.iter().sum::<usize>(), whole);
                for (quota, taken) in quotas.iter().zip(taken) {
                    (0..taken).for_each(|_| quota.give_back());
                    assert_eq!(quota.used(), 0);
                }
            }
        }
    }
}
