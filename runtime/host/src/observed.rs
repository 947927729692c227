//! One request as those see it who run the host: counted and timed, if somebody asked for it.

use std::time::Instant;

use http::StatusCode;

use crate::metrics::{self, Failure, Status};

/// A request from its head to its answer's head; dropped before, its client left.
pub struct Observed {
    /// `None` when nobody counts.
    started: Option<Instant>,
    component: Option<usize>,
}

impl Observed {
    pub fn begin() -> Self {
        let mut started = None;
        metrics::here(|_| started = Some(Instant::now()));
        Observed {
            started,
            component: None,
        }
    }

    /// The request goes to component `index`.
    pub fn reaches(&mut self, index: usize) {
        self.component = Some(index);
        if self.started.is_some() {
            metrics::component(index, |counters| counters.started.one());
        }
    }

    /// The component gave no answer.
    pub fn fails(&self, why: Failure) {
        metrics::here(|core| core.component(self.component).failures.of(why).one());
    }

    pub fn answered(mut self, status: StatusCode) {
        self.end(Status::of(status));
    }

    fn end(&mut self, status: Status) {
        let Some(started) = self.started.take() else {
            return;
        };
        metrics::here(|core| {
            let counters = core.component(self.component);
            if self.component.is_none() {
                counters.started.one();
            }
            counters.answered(status, started.elapsed());
        });
    }
}

impl Drop for Observed {
    fn drop(&mut self) {
        self.end(Status::Aborted);
    }
}
