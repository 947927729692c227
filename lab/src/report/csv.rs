//! `trials.csv`: a line a trial, for a spreadsheet or a notebook.

use super::{ExportError, Exporter, Report};
use crate::metric::Metric;
use crate::results::{GateFinding, Outcome, Trial};

pub struct Csv;

const COLUMNS: [&str; 25] = [
    "sequence",
    "profile",
    "scenario",
    "target",
    "block",
    "attempt",
    "outcome",
    "why",
    "started_s",
    "seconds",
    "completed",
    "errors",
    "dropped",
    "rate",
    "p50_ms",
    "p90_ms",
    "p95_ms",
    "p99_ms",
    "p999_ms",
    "max_ms",
    "cpu_us_per_request",
    "peak_rss_bytes",
    "cold_start_ms",
    "capacity_per_s",
    "gates",
];

impl Exporter for Csv {
    fn file_name(&self) -> &'static str {
        "trials.csv"
    }

    fn export(&self, report: &Report) -> Result<String, ExportError> {
        Ok(lines(&report.results.trials))
    }
}

pub fn lines<'a>(trials: impl IntoIterator<Item = &'a Trial>) -> String {
    let mut csv = COLUMNS.join(",") + "\n";
    for trial in trials {
        csv += &cells(trial).map(|cell| quoted(&cell)).join(",");
        csv.push('\n');
    }
    csv
}

fn cells(trial: &Trial) -> [String; 25] {
    let figures = trial.figures.as_ref();
    let latency = figures.and_then(|f| f.latency.as_ref());
    let server = figures.and_then(|f| f.server);
    // Enough digits for any use, and none that were not measured.
    let number = |value: Option<f64>| value.map_or(String::new(), |value| format!("{value:.4}"));
    let whole = |value: Option<u64>| value.map_or(String::new(), |value| value.to_string());
    let percentile = |p: f64| number(latency.and_then(|latency| latency.percentile(p)));
    let gate = |finding: &GateFinding| format!("{}: {}", finding.gate.title(), finding.reading);
    let gates: Vec<String> = trial.gates.iter().map(gate).collect();
    let (outcome, why) = match &trial.outcome {
        Outcome::Counted => ("counted", ""),
        Outcome::Void { why } => ("void", why.as_str()),
        Outcome::Failed { why } => ("failed", why.as_str()),
    };
    [
        trial.sequence.to_string(),
        trial.profile.clone(),
        trial.scenario.clone(),
        trial.target.clone(),
        trial.block.to_string(),
        trial.attempt.to_string(),
        outcome.into(),
        why.into(),
        format!("{:.1}", trial.started_seconds),
        format!("{:.2}", trial.seconds),
        whole(figures.map(|f| f.completed)),
        whole(figures.map(|f| f.errors.values().sum())),
        whole(figures.map(|f| f.dropped)),
        number(figures.and_then(|f| f.rate).map(|rate| rate.mean)),
        percentile(0.5),
        percentile(0.9),
        percentile(0.95),
        percentile(0.99),
        percentile(0.999),
        number(latency.map(|latency| latency.max_ms)),
        number(Metric::CpuPerRequest.of(trial)),
        whole(server.and_then(|server| server.peak_rss_bytes)),
        number(Metric::ColdStart.of(trial)),
        number(Metric::Capacity.of(trial)),
        gates.join("; "),
    ]
}

/// RFC 4180: quotes around what holds a comma, a quote or a line end.
fn quoted(cell: &str) -> String {
    if cell.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.to_owned()
    }
}
