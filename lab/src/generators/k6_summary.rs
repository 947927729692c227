//! What k6 reports at its end, in either of its formats: `handleSummary` (values nested) and `--summary-export` (flat).
//!
//! Its traps are known here and nowhere else: `http_req_failed` counts failures as `passes`, failed connects add 0 ms
//! samples, a check that was never made passes, and a script that throws ends with exit code 0.

use serde_json::{Map, Value};

use crate::results::{Figures, Gate, GateEffect, GateFinding, Latency, Quantile, Rate};

/// More dropped iterations than this, and the offered rate was not what was asked for.
const MAX_DROPPED_SHARE: f64 = 0.001;

#[derive(Debug, thiserror::Error)]
pub enum SummaryError {
    #[error("it is no JSON: {0}")]
    Json(#[from] serde_json::Error),
    #[error("it has no metric {0:?}")]
    NoMetric(&'static str),
    #[error("its metric {metric:?} has no {value:?}")]
    NoValue {
        metric: &'static str,
        value: &'static str,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub struct K6Summary {
    pub iterations: u64,
    pub iterations_per_second: f64,
    pub dropped: u64,
    pub requests_failed: u64,
    pub checks_passed: u64,
    pub checks_failed: u64,
    pub bytes_received: u64,
    pub thresholds_crossed: u64,
    /// Of the expected answers only; absent when there was none.
    pub latency: Option<K6Latency>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct K6Latency {
    pub count: u64,
    pub min_ms: f64,
    pub avg_ms: f64,
    pub max_ms: f64,
    /// (p, ms), ascending.
    pub quantiles: Vec<(f64, f64)>,
}

impl K6Summary {
    pub fn parse(text: &str) -> Result<Self, SummaryError> {
        let summary: Value = serde_json::from_str(text)?;
        let metrics = Metrics(summary.get("metrics").and_then(Value::as_object));
        let iterations = metrics.get("iterations")?;
        // A rate of failed requests: its "passes" are the requests that failed.
        let failed = metrics.optional("http_req_failed");
        // Absent when the script threw before its check.
        let checks = metrics.optional("checks");
        let count = |values: Option<&Map<String, Value>>, key| {
            values
                .and_then(|values| values.get(key)?.as_f64())
                .unwrap_or(0.0) as u64
        };
        Ok(Self {
            iterations: number(iterations, "iterations", "count")? as u64,
            iterations_per_second: number(iterations, "iterations", "rate")?,
            // k6 leaves the metric out when nothing was dropped.
            dropped: count(metrics.optional("dropped_iterations"), "count"),
            requests_failed: count(failed, "passes"),
            checks_passed: count(checks, "passes"),
            checks_failed: count(checks, "fails"),
            bytes_received: count(metrics.optional("data_received"), "count"),
            thresholds_crossed: metrics.thresholds_crossed(),
            latency: match metrics.optional(LATENCY) {
                Some(values) => latency(values)?,
                None => None,
            },
        })
    }

    /// What the result lacks to be believed.
    pub fn findings(&self, rate: f64, seconds: f64, log: &str) -> Vec<GateFinding> {
        let mut findings = Vec::new();
        let void = |gate, reading| GateFinding {
            gate,
            effect: GateEffect::Void,
            reading,
        };
        let dropped_share = self.dropped_share();
        if dropped_share > MAX_DROPPED_SHARE {
            findings.push(void(
                Gate::DroppedIterations,
                format!(
                    "{:.2} % of the iterations dropped, limit {:.1} %",
                    dropped_share * 100.0,
                    MAX_DROPPED_SHARE * 100.0
                ),
            ));
        }
        // k6 starts one more or less than rate times duration.
        let due = rate * seconds - 1.0 - self.dropped as f64;
        if (self.iterations as f64) < due.floor() {
            findings.push(void(
                Gate::OfferedRate,
                format!("{} iterations, {due:.0} were due", self.iterations),
            ));
        }
        let checks = self.checks_passed + self.checks_failed;
        if checks != self.iterations {
            findings.push(script_error(format!(
                "{} iterations made {checks} checks",
                self.iterations
            )));
        }
        if let Some(line) = log.lines().find(|line| line.contains(r#""level":"error""#)) {
            findings.push(script_error(format!("k6 logged {}", line.trim())));
        }
        let wrong = self.checks_failed;
        if wrong > 0 {
            findings.push(void(
                Gate::ResponseErrors,
                format!("{wrong} of {checks} answers were wrong or missing"),
            ));
        }
        findings
    }

    pub fn dropped_share(&self) -> f64 {
        let offered = self.iterations + self.dropped;
        match offered {
            0 => 0.0,
            _ => self.dropped as f64 / offered as f64,
        }
    }

    pub fn figures(&self, offered_rate: f64) -> Figures {
        let mut figures = Figures {
            completed: self.checks_passed,
            dropped: self.dropped,
            offered_rate: Some(offered_rate),
            bytes_received: Some(self.bytes_received),
            rate: Some(Rate {
                mean: self.iterations_per_second,
                stdev: None,
                max: None,
            }),
            ..Figures::default()
        };
        if self.requests_failed > 0 {
            figures
                .errors
                .insert("failed request".into(), self.requests_failed);
        }
        let wrong = self.checks_failed.saturating_sub(self.requests_failed);
        if wrong > 0 {
            figures.errors.insert("wrong answer".into(), wrong);
        }
        figures.latency = self.latency.as_ref().map(|latency| Latency {
            n: latency.count,
            min_ms: latency.min_ms,
            mean_ms: latency.avg_ms,
            max_ms: latency.max_ms,
            stdev_ms: None,
            quantiles: latency
                .quantiles
                .iter()
                .map(|&(p, ms)| Quantile { p, ms })
                .collect(),
        });
        figures
    }
}

pub fn script_error(reading: String) -> GateFinding {
    GateFinding {
        gate: Gate::ScriptErrors,
        effect: GateEffect::Void,
        reading,
    }
}

const LATENCY: &str = "http_req_duration{expected_response:true}";

struct Metrics<'a>(Option<&'a Map<String, Value>>);

impl<'a> Metrics<'a> {
    /// A metric's values: nested under `values` by handleSummary, and not by --summary-export.
    fn optional(&self, name: &str) -> Option<&'a Map<String, Value>> {
        let metric = self.0?.get(name)?.as_object()?;
        match metric.get("values") {
            Some(values) => values.as_object(),
            None => Some(metric),
        }
    }

    fn get(&self, name: &'static str) -> Result<&'a Map<String, Value>, SummaryError> {
        self.optional(name).ok_or(SummaryError::NoMetric(name))
    }

    /// handleSummary says `{"ok": false}` of a crossed threshold, and --summary-export says `true`.
    fn thresholds_crossed(&self) -> u64 {
        let metrics = self.0.into_iter().flat_map(Map::values);
        metrics
            .filter_map(|metric| metric.get("thresholds")?.as_object())
            .flat_map(Map::values)
            .filter(|verdict| match verdict.get("ok") {
                Some(ok) => ok == &Value::Bool(false),
                None => *verdict == &Value::Bool(true),
            })
            .count() as u64
    }
}

fn number(
    values: &Map<String, Value>,
    metric: &'static str,
    value: &'static str,
) -> Result<f64, SummaryError> {
    values
        .get(value)
        .and_then(Value::as_f64)
        .ok_or(SummaryError::NoValue { metric, value })
}

fn latency(values: &Map<String, Value>) -> Result<Option<K6Latency>, SummaryError> {
    let get = |value| number(values, LATENCY, value);
    let count = get("count")? as u64;
    if count == 0 {
        return Ok(None);
    }
    let mut quantiles: Vec<(f64, f64)> = values
        .iter()
        .filter_map(|(key, value)| {
            let percent: f64 = key.strip_prefix("p(")?.strip_suffix(')')?.parse().ok()?;
            // Percent has at most two decimals: rounding undoes what the division adds.
            Some(((percent * 1e4).round() / 1e6, value.as_f64()?))
        })
        .collect();
    quantiles.sort_by(|a, b| a.0.total_cmp(&b.0));
    Ok(Some(K6Latency {
        count,
        min_ms: get("min")?,
        avg_ms: get("avg")?,
        max_ms: get("max")?,
        quantiles,
    }))
}
