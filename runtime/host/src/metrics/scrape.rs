//! One scrape: the counters of all cores added up, and the pool asked, as Prometheus text.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use wasmtime::Engine;

use super::counters::{BOUNDS, ComponentCounters, CoreCounters};
use super::kinds::{ByKind, Failure, Kind, Outcome, Retirement, Status, TrapKind};
use super::text::{CONTENT_TYPE, Text};

/// What is read at a scrape.
pub struct Scrape {
    /// The names of the components, in the order of their counters.
    pub components: Vec<Arc<str>>,
    pub cores: Vec<Arc<CoreCounters>>,
    /// The engines, by the WASI version that they are for.
    pub engines: Vec<(&'static str, Engine)>,
    /// How many instances each engine's pool has room for.
    pub pool_size: usize,
}

type Split<K> = fn(&ComponentCounters) -> &ByKind<K>;

impl Scrape {
    pub const CONTENT_TYPE: &str = CONTENT_TYPE;

    /// All metrics, as they are now.
    pub fn text(&self) -> String {
        let mut text = Text::default();
        self.requests(&mut text);
        self.instances(&mut text);
        self.outbound(&mut text);
        text.single(
            "process_start_time_seconds",
            "gauge",
            "When the process started, in seconds since 1970.",
            process_start().as_secs_f64(),
        );
        text.into_string()
    }

    fn requests(&self, text: &mut Text) {
        let name = "levelfield_host_requests_total";
        let help = "Requests by component, none for those that reached none, and class of status; aborted is a client that left before the answer.";
        text.family(name, "counter", help);
        self.split::<Status>(text, name, "status", |c| &c.requests, true);
        self.latency(text);
        let name = "levelfield_host_requests_in_flight";
        text.family(name, "gauge", "Requests that wait for their answer's head.");
        for (index, component) in self.names() {
            // Read in this order, the difference is never negative.
            let done = self.sum(|core| core.components[index].requests.total());
            let started = self.sum(|core| core.components[index].started.get());
            text.sample(
                name,
                &[("component", component)],
                started.saturating_sub(done),
            );
        }
        let name = "levelfield_host_request_failures_total";
        let help = "Requests that a component did not answer, by reason; they were answered 500, 503 or 504.";
        text.family(name, "counter", help);
        self.split::<Failure>(text, name, "reason", |c| &c.failures, false);
        text.single(
            "levelfield_host_queued_requests",
            "gauge",
            "Requests that wait for room in a component.",
            self.sum(|core| core.queued.get()),
        );
        text.single(
            "levelfield_host_connections",
            "gauge",
            "Open connections of clients.",
            self.sum(|core| core.connections.get()),
        );
        text.single(
            "levelfield_host_connections_accepted_total",
            "counter",
            "Connections of clients so far.",
            self.sum(|core| core.connections_accepted.get()),
        );
    }

    fn latency(&self, text: &mut Text) {
        let name = "levelfield_host_request_duration_seconds";
        text.family(
            name,
            "histogram",
            "From a request's head to its answer's head, by component.",
        );
        for (index, component) in self.names() {
            let mut total = 0;
            for bucket in 0..=BOUNDS.len() {
                total += self.sum(|core| core.components[index].latency.buckets[bucket].get());
                let bound = BOUNDS
                    .get(bucket)
                    .map_or("+Inf".to_owned(), |bound| (*bound as f64 / 1e6).to_string());
                let labels = [("component", component), ("le", &*bound)];
                text.sample(&format!("{name}_bucket"), &labels, total);
            }
            let sum = self.sum(|core| core.components[index].latency.microseconds.get());
            let labels = [("component", component)];
            text.sample(&format!("{name}_sum"), &labels, sum as f64 / 1e6);
            text.sample(&format!("{name}_count"), &labels, total);
        }
    }

    fn instances(&self, text: &mut Text) {
        let name = "levelfield_host_instances";
        text.family(name, "gauge", "Live instances by component.");
        for (index, component) in self.real_names() {
            let retired = self.sum(|core| core.components[index].retired.total());
            let created = self.sum(|core| core.components[index].created.get());
            text.sample(
                name,
                &[("component", component)],
                created.saturating_sub(retired),
            );
        }
        let name = "levelfield_host_instances_created_total";
        text.family(name, "counter", "Instances created, by component.");
        for (index, component) in self.real_names() {
            let created = self.sum(|core| core.components[index].created.get());
            text.sample(name, &[("component", component)], created);
        }
        let name = "levelfield_host_instances_retired_total";
        text.family(name, "counter", "Instances ended, by component and reason.");
        self.split::<Retirement>(text, name, "reason", |c| &c.retired, false);
        let name = "levelfield_host_traps_total";
        text.family(name, "counter", "Traps of guests, by component and kind.");
        self.split::<TrapKind>(text, name, "kind", |c| &c.traps, false);
        let name = "levelfield_host_pool_instances";
        text.family(name, "gauge", "Places of the instance pool in use, by WASI version; absent where instances are not pooled.");
        for (wasi, engine) in &self.engines {
            if let Some(pool) = engine.pooling_allocator_metrics() {
                text.sample(name, &[("wasi", wasi)], pool.component_instances());
            }
        }
        let name = "levelfield_host_pool_memories";
        text.family(
            name,
            "gauge",
            "Linear memories of the instance pool in use, by WASI version.",
        );
        for (wasi, engine) in &self.engines {
            if let Some(pool) = engine.pooling_allocator_metrics() {
                text.sample(name, &[("wasi", wasi)], pool.memories());
            }
        }
        text.single(
            "levelfield_host_pool_size_instances",
            "gauge",
            "Places of each instance pool: --max-instances.",
            self.pool_size,
        );
    }

    fn outbound(&self, text: &mut Text) {
        let name = "levelfield_host_outbound_requests_total";
        text.family(
            name,
            "counter",
            "Outbound requests of components, by outcome.",
        );
        self.split::<Outcome>(text, name, "outcome", |c| &c.outbound, false);
        // Lent first: a connection is opened before it is lent, and closed after.
        let lent = self.sum(|core| core.outbound_lent.get());
        let open = self.sum(|core| core.outbound_open.get());
        text.single(
            "levelfield_host_outbound_connections",
            "gauge",
            "Outbound connections that are open or being opened.",
            open,
        );
        text.single(
            "levelfield_host_outbound_connections_idle",
            "gauge",
            "Outbound connections that are kept for the next request.",
            open.saturating_sub(lent),
        );
        text.single(
            "levelfield_host_outbound_connections_created_total",
            "counter",
            "Outbound connections that were opened.",
            self.sum(|core| core.outbound_created.get()),
        );
    }

    /// The components and, last, the counters of none.
    fn names(&self) -> impl Iterator<Item = (usize, &str)> {
        self.real_names().chain([(self.components.len(), "")])
    }

    fn real_names(&self) -> impl Iterator<Item = (usize, &str)> {
        self.components
            .iter()
            .enumerate()
            .map(|(index, name)| (index, &**name))
    }

    fn sum(&self, read: impl Fn(&CoreCounters) -> u64) -> u64 {
        self.cores.iter().map(|core| read(core)).sum()
    }

    /// A sample for each component and kind, those of no component too if asked for.
    fn split<K: Kind>(
        &self,
        text: &mut Text,
        name: &str,
        label: &str,
        counts: Split<K>,
        all: bool,
    ) {
        let skipped = usize::from(!all);
        let shown = self.components.len() + 1 - skipped;
        for (index, component) in self.names().take(shown) {
            for (kind, value) in K::NAMES.iter().enumerate() {
                let count = self.sum(|core| counts(&core.components[index]).at(kind));
                text.sample(name, &[("component", component), (label, value)], count);
            }
        }
    }
}

/// When this process started, since 1970: from the kernel, or else the time of the first question.
fn process_start() -> Duration {
    static START: std::sync::OnceLock<Duration> = std::sync::OnceLock::new();
    *START.get_or_init(|| {
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        now.saturating_sub(age().unwrap_or_default())
    })
}

/// How long this process runs: the kernel says when it started, in hundredths of a second since the machine did.
fn age() -> Option<Duration> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name, which may hold anything, ends with the last parenthesis; the start is the 20th field after it.
    let started: f64 = stat
        .rsplit_once(')')?
        .1
        .split_whitespace()
        .nth(19)?
        .parse()
        .ok()?;
    let uptime = std::fs::read_to_string("/proc/uptime").ok()?;
    let uptime: f64 = uptime.split_whitespace().next()?.parse().ok()?;
    Duration::try_from_secs_f64(uptime - started / 100.0).ok()
}
