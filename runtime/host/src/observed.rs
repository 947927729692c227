//! One request as those see it who run the host: counted, timed and traced, each only if somebody asked for it.

use std::time::Instant;

use http::{Method, StatusCode};

use crate::metrics::{self, Failure, Status};
use crate::trace::RequestSpan;

/// A request from its head to its answer's head; dropped before, its client left.
pub struct Observed {
    /// `None` when nobody counts.
    started: Option<Instant>,
    component: Option<usize>,
    span: Option<RequestSpan>,
}

impl Observed {
    pub fn begin<B>(request: &http::Request<B>) -> Self {
        let mut started = None;
        metrics::here(|_| started = Some(Instant::now()));
        Observed {
            started,
            component: None,
            span: RequestSpan::begin(request),
        }
    }

    /// The request takes `route` to component `index`, which is called `id`.
    pub fn reaches(&mut self, index: usize, id: &str, method: &Method, route: &str) {
        self.component = Some(index);
        if self.started.is_some() {
            metrics::component(index, |counters| counters.started.one());
        }
        if let Some(span) = &mut self.span {
            span.reaches(method, route, id);
        }
    }

    /// Has the guest's request carry the trace on.
    pub fn enter<B>(&self, request: &mut http::Request<B>) {
        if let Some(span) = &self.span {
            span.enter(request);
        }
    }

    /// The component gave no answer.
    pub fn fails(&self, why: Failure) {
        metrics::here(|core| core.component(self.component).failures.of(why).one());
    }

    pub fn answered(mut self, status: StatusCode) {
        self.end(Some(status));
    }

    fn end(&mut self, status: Option<StatusCode>) {
        if let Some(started) = self.started.take() {
            metrics::here(|core| {
                let counters = core.component(self.component);
                if self.component.is_none() {
                    counters.started.one();
                }
                counters.answered(
                    status.map_or(Status::Aborted, Status::of),
                    started.elapsed(),
                );
            });
        }
        if let Some(span) = self.span.take() {
            span.end(status);
        }
    }
}

impl Drop for Observed {
    fn drop(&mut self) {
        self.end(None);
    }
}
