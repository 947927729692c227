//! The way of a request, from its head to its answer, in one place.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, RwLock};
use std::time::Duration;

use hyper::header::CONTENT_LENGTH;
use hyper::{Request, StatusCode};
use tokio::sync::Semaphore;
use tokio::time::Instant;
use tokio_rustls::TlsAcceptor;

use crate::answer::Answer;
use crate::auth::Tokens;
use crate::health::Health;
use crate::metrics::{Metrics, QueryMetrics};
use crate::param::Value;
use crate::query::Query;
use crate::router::{Refusal, Router};
use crate::store::{Failure, Store};

/// No request that is answered here has a use for a body; a larger one is not even skipped.
const LARGEST_BODY: u64 = 64 * 1024;

pub struct Service {
    /// What a reload replaces, as one.
    settings: RwLock<Arc<Settings>>,
    store: Arc<Store>,
    health: Arc<Health>,
    metrics: Arc<Metrics>,
    deadline: Duration,
    /// One permit for each request that may be at the store or wait for it.
    in_flight: Semaphore,
    draining: AtomicBool,
    answers: FixedAnswers,
}

pub struct Settings {
    pub router: Router,
    pub tokens: Tokens,
    /// What connections are accepted with from now on, where it is HTTPS.
    pub tls: Option<TlsAcceptor>,
}

struct FixedAnswers {
    ok: Answer,
    not_ready: Answer,
    draining: Answer,
    invalid_parameter: Answer,
    not_found: Answer,
    method_not_allowed: Answer,
    unauthorized: Answer,
    body_too_large: Answer,
}

impl Service {
    pub fn new(
        settings: Settings,
        store: Arc<Store>,
        health: Arc<Health>,
        metrics: Arc<Metrics>,
        deadline: Duration,
        max_in_flight: usize,
    ) -> Self {
        Self {
            settings: RwLock::new(Arc::new(settings)),
            store,
            health,
            metrics,
            deadline,
            in_flight: Semaphore::new(max_in_flight),
            draining: AtomicBool::new(false),
            answers: FixedAnswers {
                ok: Answer::message(200, "ok"),
                not_ready: Answer::message(503, "store is not ready").with("retry-after", "1"),
                draining: Answer::message(503, "shutting down"),
                invalid_parameter: Answer::message(400, "invalid path parameter"),
                not_found: Answer::message(404, "not found"),
                method_not_allowed: Answer::message(405, "method not allowed")
                    .with("allow", "GET, HEAD"),
                unauthorized: Answer::bare(StatusCode::UNAUTHORIZED)
                    .with("www-authenticate", "Bearer"),
                body_too_large: Answer::message(413, "body too large").with("connection", "close"),
            },
        }
    }

    /// Puts new settings in the place of the old. Requests under way end with those they began with.
    pub fn replace(&self, settings: Settings) {
        *self.settings.write().expect("no holder panics") = Arc::new(settings);
    }

    /// What the next connection is accepted with.
    pub fn tls(&self) -> Option<TlsAcceptor> {
        self.settings.read().expect("no holder panics").tls.clone()
    }

    /// From now on `/readyz` answers 503, so that balancers send no more.
    pub fn drain(&self) {
        self.draining.store(true, Relaxed);
    }

    /// Answers a request. Each step either answers or lets it pass to the next.
    pub async fn answer<B>(&self, request: &Request<B>) -> Answer {
        let begun = Instant::now();
        let settings = Arc::clone(&self.settings.read().expect("no holder panics"));
        let (metrics, answer) = self.way(request, &settings, begun).await;
        let metrics = metrics.unwrap_or(&self.metrics.unrouted);
        metrics.record(answer.status.as_u16(), begun.elapsed());
        answer
    }

    async fn way<'s, B>(
        &self,
        request: &Request<B>,
        settings: &'s Settings,
        begun: Instant,
    ) -> (Option<&'s QueryMetrics>, Answer) {
        let path = request.uri().path();

        // A body that would have to be skipped is refused before anything is done for it.
        if body_length(request) > LARGEST_BODY {
            return (None, self.answers.body_too_large.clone());
        }
        // Probes come first: they need no token, and say the truth when all else is refused.
        if let Some(answer) = self.probe(path) {
            return (None, answer);
        }
        // Nothing else is said to a stranger, not even which paths exist.
        if !settings.tokens.admit(request.headers()) {
            return (None, self.answers.unauthorized.clone());
        }
        if path == "/metrics" {
            return (None, self.render_metrics());
        }
        // What is wrong with a request is said without the store, even when that is down.
        let (query, values) = match settings.router.route(request.method().as_str(), path) {
            Ok(found) => found,
            Err(refusal) => return (None, self.refuse(refusal)),
        };
        let metrics = Some(&*query.metrics);
        // A store that is known to be down costs a request no time.
        if let Some(failure) = self.health.failure() {
            return (metrics, failed(query, &failure));
        }
        // A bound on all who wait, so that a slow store cannot fill the memory.
        let Ok(_permit) = self.in_flight.try_acquire() else {
            return (metrics, query.answers.unavailable.clone());
        };
        self.metrics.in_flight.fetch_add(1, Relaxed);
        let _leave = Leave(&self.metrics);
        // Kept answers, if the query keeps any; else the store.
        let answer = match &query.cache {
            Some(cache) => {
                let read = self.read(query, &values, begun);
                let read = tokio::time::timeout_at(
                    begun + self.deadline,
                    cache.get_or_read(&values, read),
                );
                match read.await {
                    Ok(Ok(answer)) => answer,
                    Ok(Err(failure)) => failed(query, &failure),
                    Err(_) => failed(query, &Failure::TimedOut),
                }
            }
            None => match self.read(query, &values, begun).await {
                Ok(answer) => answer,
                Err(failure) => failed(query, &failure),
            },
        };
        (metrics, answer)
    }

    async fn read(
        &self,
        query: &Query,
        values: &[Value],
        begun: Instant,
    ) -> Result<Answer, Failure> {
        let found = self.store.find(query, values, begun + self.deadline).await;
        if let Err(failure) = &found {
            log(query, failure);
        }
        Ok(found?.map_or_else(|| query.answers.not_found.clone(), Answer::found))
    }

    fn probe(&self, path: &str) -> Option<Answer> {
        match path {
            "/healthz" => Some(self.answers.ok.clone()),
            "/readyz" if self.draining.load(Relaxed) => Some(self.answers.draining.clone()),
            "/readyz" if self.health.is_up() => Some(self.answers.ok.clone()),
            "/readyz" => Some(self.answers.not_ready.clone()),
            _ => None,
        }
    }

    fn render_metrics(&self) -> Answer {
        let text = self
            .metrics
            .render(self.health.is_up(), self.store.pool_size());
        Answer::text("text/plain; version=0.0.4; charset=utf-8", text)
    }

    fn refuse(&self, refusal: Refusal) -> Answer {
        match refusal {
            Refusal::InvalidParameter => self.answers.invalid_parameter.clone(),
            Refusal::NotFound => self.answers.not_found.clone(),
            Refusal::MethodNotAllowed => self.answers.method_not_allowed.clone(),
        }
    }
}

/// Counts a request out, also when its client has gone and its future is dropped.
struct Leave<'a>(&'a Metrics);

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Relaxed);
    }
}

fn body_length<B>(request: &Request<B>) -> u64 {
    let length = request.headers().get(CONTENT_LENGTH);
    // The server has already refused a length that is not a number.
    length
        .and_then(|value| value.to_str().ok()?.parse().ok())
        .unwrap_or(0)
}

fn failed(query: &Query, failure: &Failure) -> Answer {
    match failure {
        Failure::Unavailable(_) => query.answers.unavailable.clone(),
        Failure::TimedOut => query.answers.timed_out.clone(),
        Failure::Malformed(_) => query.answers.malformed.clone(),
        Failure::TooLarge => query.answers.too_large.clone(),
    }
}

/// For each read that failed, as far as the quota goes, with what is needed to find it; never with a
/// value of a request.
fn log(query: &Query, failure: &Failure) {
    let name = &query.name;
    let (quota, what) = match failure {
        Failure::Malformed(_) | Failure::TooLarge => {
            (&query.document_log, "malformed or too large")
        }
        Failure::Unavailable(_) | Failure::TimedOut => (&query.store_log, "store failures"),
    };
    if !quota.allows(&format!("{name}: {what}")) {
        return;
    }
    match failure {
        Failure::Malformed(malformed) => tracing::error!(
            "{name}: the document with _id {} in {} is malformed: field {:?}",
            malformed.id,
            query.collection,
            malformed.field
        ),
        Failure::TooLarge => tracing::error!("{name}: the answer is too large"),
        Failure::Unavailable(reason) => tracing::warn!("{name}: store unavailable: {reason}"),
        Failure::TimedOut => tracing::warn!("{name}: store timed out"),
    }
}
