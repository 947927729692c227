//! What was measured: calibrations and trials, the counted and the others.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A generator's own floor and ceiling: the same load against a server that does nothing.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Calibration {
    pub profile: String,
    /// Absent when one calibration serves all the profile's scenarios.
    #[serde(default)]
    pub scenario: Option<String>,
    pub generator: String,
    #[serde(default)]
    pub offered_rate: Option<f64>,
    #[serde(default)]
    pub connections: Option<u32>,
    pub achieved_rate: f64,
    pub latency: Latency,
    #[serde(default)]
    pub generator_cpu: Option<f64>,
}

/// One fresh process of one target under one load.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Trial {
    /// Place in the whole run, from 0.
    pub sequence: u32,
    pub profile: String,
    pub scenario: String,
    pub target: String,
    /// From 0, counted inside profile and scenario: a block holds each target once, in shuffled order.
    pub block: u32,
    /// 0 for the first go; a void trial is repeated with the next number.
    pub attempt: u32,
    /// Since the run's start.
    pub started_seconds: f64,
    /// From spawn to end: start, probe and warm-up included.
    pub seconds: f64,
    pub outcome: Outcome,
    /// Kept for void trials too, so that a reader can see what was thrown away. Absent when nothing was measured.
    #[serde(default)]
    pub figures: Option<Figures>,
    /// Only what did not pass; an empty list means that every gate did.
    #[serde(default)]
    pub gates: Vec<GateFinding>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Enters the statistics.
    Counted,
    /// Spoilt by something that is not the target's doing (foreign load, a generator at its limit): not counted.
    Void { why: String },
    /// The target's own failure (died, out of memory, wrong answers): no number, and never a zero.
    Failed { why: String },
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct GateFinding {
    pub gate: Gate,
    pub effect: GateEffect,
    /// The reading and the limit: "41 % of a core, limit 10 %".
    pub reading: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GateEffect {
    /// The figure stands, and the finding is printed beside it.
    Label,
    /// The trial does not count.
    Void,
}

/// What is watched during a trial. (Floor and ceiling of the generator follow from the calibrations and are not here.)
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Gate {
    Contract,
    SocketOwner,
    GeneratorHeadroom,
    DroppedIterations,
    OfferedRate,
    ForeignLoad,
    CpuSteal,
    CpuPressure,
    Throttled,
    ScriptErrors,
    ResponseErrors,
    ResponseBytes,
    ServerDied,
    OutOfMemory,
    NotSteady,
}

/// What one trial read. A field that a profile does not measure is absent.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Figures {
    /// Expected answers; errors never enter latency, and stand beside it.
    #[serde(default)]
    pub completed: u64,
    /// By class: "timeout", "connection refused", "status 503", "wrong body".
    #[serde(default)]
    pub errors: BTreeMap<String, u64>,
    /// By status code, as the closed-loop original printed them.
    #[serde(default)]
    pub statuses: BTreeMap<u16, u64>,
    /// Open loops: iterations that the generator could not start in time.
    #[serde(default)]
    pub dropped: u64,
    #[serde(default)]
    pub offered_rate: Option<f64>,
    #[serde(default)]
    pub rate: Option<Rate>,
    #[serde(default)]
    pub latency: Option<Latency>,
    /// Body and header bytes received.
    #[serde(default)]
    pub bytes_received: Option<u64>,
    #[serde(default)]
    pub cold_start: Option<ColdStart>,
    /// Capacity: the ladder, in the order that it was climbed.
    #[serde(default)]
    pub ladder: Vec<Step>,
    #[serde(default)]
    pub server: Option<ServerUse>,
    /// Share of one core, 0.8 for 80 %.
    #[serde(default)]
    pub generator_cpu: Option<f64>,
    /// Cores that all of ours but the server used: the generator, the lab itself, and a store that targets share.
    #[serde(default)]
    pub load_side_cpu: Option<f64>,
    #[serde(default)]
    pub warm_up: Option<WarmUp>,
    /// A sampled trial's course, a line a second. Its latencies are not scored.
    #[serde(default)]
    pub timeline: Vec<Second>,
}

/// Completed requests per second; `stdev` and `max` over the generator's own samples, where it takes them.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Rate {
    pub mean: f64,
    #[serde(default)]
    pub stdev: Option<f64>,
    #[serde(default)]
    pub max: Option<f64>,
}

/// The distribution of the expected answers' latency.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Latency {
    pub n: u64,
    pub min_ms: f64,
    pub mean_ms: f64,
    pub max_ms: f64,
    #[serde(default)]
    pub stdev_ms: Option<f64>,
    /// As the generator printed them, `p` ascending in 0 < p < 1. k6 keeps every sample, so its quantiles are exact;
    /// about forty of them from p1 to p99.9 describe the curve and allow pooling.
    pub quantiles: Vec<Quantile>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Quantile {
    pub p: f64,
    pub ms: f64,
}

/// From spawn to the first right answer, a time for each spawn of the trial.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ColdStart {
    /// True when the page cache was dropped before each spawn.
    pub page_cache_dropped: bool,
    pub spawns_ms: Vec<f64>,
}

/// What a server was given before its load was measured.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct WarmUp {
    pub seconds: f64,
    /// Whether its last windows agreed; absent where the length was fixed.
    #[serde(default)]
    pub steady: Option<bool>,
}

/// One rung of the capacity ladder.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Step {
    pub connections: u32,
    /// Open-loop rungs only.
    #[serde(default)]
    pub offered_rate: Option<f64>,
    pub rate: f64,
    pub p50_ms: f64,
    pub p99_ms: f64,
    pub errors: u64,
    /// Share of the offered iterations that were dropped, 0 for closed loops.
    pub dropped_share: f64,
    /// p99 within the scenario's limit, no errors, drops within theirs.
    pub passed: bool,
}

/// What the server's process group used, warm-up excluded where the backend can tell them apart.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct ServerUse {
    #[serde(default)]
    pub cpu_seconds: Option<f64>,
    /// The part of it that was used by what belongs to the deployment and runs beside the server, such as a sidecar.
    #[serde(default)]
    pub beside_cpu_seconds: Option<f64>,
    #[serde(default)]
    pub peak_rss_bytes: Option<u64>,
    /// Median of the samples of the trial's second half.
    #[serde(default)]
    pub steady_rss_bytes: Option<u64>,
    #[serde(default)]
    pub context_switches: Option<u64>,
    #[serde(default)]
    pub throttled_seconds: Option<f64>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Second {
    /// Since the load began.
    pub second: u32,
    pub rate: f64,
    #[serde(default)]
    pub p50_ms: Option<f64>,
    #[serde(default)]
    pub p99_ms: Option<f64>,
    /// Of the server, share of one core.
    #[serde(default)]
    pub cpu: Option<f64>,
    #[serde(default)]
    pub rss_bytes: Option<u64>,
}
