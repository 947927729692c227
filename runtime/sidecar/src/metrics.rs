//! Counters for Prometheus: plain atomics, written out on request.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Upper bounds of the latency histogram, in microseconds.
const BOUNDS: [u64; 14] = [
    100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000,
    1_000_000, 2_500_000,
];

/// Every status that the sidecar answers with.
const STATUSES: [u16; 10] = [200, 400, 401, 404, 405, 413, 500, 503, 504, 0];

#[derive(Default)]
pub struct Metrics {
    queries: Mutex<BTreeMap<String, Arc<QueryMetrics>>>,
    /// Requests that reached no query.
    pub unrouted: QueryMetrics,
    pub in_flight: AtomicI64,
    pub connections: AtomicI64,
    pub retries: AtomicU64,
    pub pool_connections: AtomicI64,
    pub pool_waiters: AtomicI64,
}

#[derive(Default)]
pub struct QueryMetrics {
    statuses: [AtomicU64; STATUSES.len()],
    buckets: [AtomicU64; BOUNDS.len() + 1],
    microseconds: AtomicU64,
}

impl QueryMetrics {
    pub fn record(&self, status: u16, took: Duration) {
        let index = STATUSES.iter().position(|known| *known == status);
        self.statuses[index.unwrap_or(STATUSES.len() - 1)].fetch_add(1, Relaxed);
        // Half a million years fit.
        let micros = took.as_micros() as u64;
        let bucket = BOUNDS.partition_point(|bound| *bound < micros);
        self.buckets[bucket].fetch_add(1, Relaxed);
        self.microseconds.fetch_add(micros, Relaxed);
    }
}

impl Metrics {
    /// The counters of a query by its name. They outlive a reload.
    pub fn query(&self, name: &str) -> Arc<QueryMetrics> {
        let mut queries = self.queries.lock().expect("no holder panics");
        Arc::clone(queries.entry(name.to_owned()).or_default())
    }

    /// The text format of Prometheus.
    pub fn render(&self, store_up: bool, pool_size: Option<u32>) -> String {
        let mut out = String::new();
        // Writing into a string cannot fail.
        let _ = self.write(&mut out, store_up, pool_size);
        out
    }

    fn write(&self, out: &mut String, up: bool, pool_size: Option<u32>) -> std::fmt::Result {
        let queries = self.queries.lock().expect("no holder panics");
        let all = || {
            let named = queries
                .iter()
                .map(|(name, metrics)| (name.as_str(), &**metrics));
            named.chain([("", &self.unrouted)])
        };
        out.push_str("# HELP sidecar_requests_total Requests answered, by query and status.\n");
        out.push_str("# TYPE sidecar_requests_total counter\n");
        for (query, metrics) in all() {
            for (status, count) in STATUSES.iter().zip(&metrics.statuses) {
                let count = count.load(Relaxed);
                if count > 0 {
                    writeln!(
                        out,
                        "sidecar_requests_total{{query=\"{query}\",status=\"{status}\"}} {count}"
                    )?;
                }
            }
        }
        const DURATION: &str = "sidecar_request_duration_seconds";
        writeln!(
            out,
            "# HELP {DURATION} From the request's head to its answer."
        )?;
        writeln!(out, "# TYPE {DURATION} histogram")?;
        for (query, metrics) in all() {
            let mut total = 0;
            for (index, count) in metrics.buckets.iter().enumerate() {
                total += count.load(Relaxed);
                let bound = BOUNDS
                    .get(index)
                    .map_or(f64::INFINITY, |us| *us as f64 / 1e6);
                let bound = if bound.is_finite() {
                    bound.to_string()
                } else {
                    "+Inf".into()
                };
                writeln!(
                    out,
                    "{DURATION}_bucket{{query=\"{query}\",le=\"{bound}\"}} {total}"
                )?;
            }
            let sum = metrics.microseconds.load(Relaxed) as f64 / 1e6;
            writeln!(out, "{DURATION}_sum{{query=\"{query}\"}} {sum}")?;
            writeln!(out, "{DURATION}_count{{query=\"{query}\"}} {total}")?;
        }
        let mut gauge = |name: &str, help: &str, kind: &str, value: i64| {
            writeln!(
                out,
                "# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}"
            )
        };
        let in_flight = self.in_flight.load(Relaxed);
        gauge(
            "sidecar_in_flight",
            "Requests that wait for the store.",
            "gauge",
            in_flight,
        )?;
        let connections = self.connections.load(Relaxed);
        gauge(
            "sidecar_connections",
            "Open client connections.",
            "gauge",
            connections,
        )?;
        gauge(
            "sidecar_store_up",
            "1 if the last background check passed.",
            "gauge",
            up.into(),
        )?;
        if let Some(size) = pool_size {
            let open = self.pool_connections.load(Relaxed);
            let waiters = self.pool_waiters.load(Relaxed);
            let retries = self.retries.load(Relaxed) as i64;
            gauge(
                "sidecar_pool_size",
                "Most requests at the store at once.",
                "gauge",
                size.into(),
            )?;
            gauge(
                "sidecar_pool_connections",
                "Open store connections.",
                "gauge",
                open,
            )?;
            gauge(
                "sidecar_pool_waiters",
                "Requests that wait for a slot.",
                "gauge",
                waiters,
            )?;
            gauge(
                "sidecar_retries_total",
                "Reads tried again.",
                "counter",
                retries,
            )?;
        }
        Ok(())
    }
}
