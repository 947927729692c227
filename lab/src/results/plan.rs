//! What was planned, fixed before the first trial: no figure can be chosen by its outcome.

use serde::{Deserialize, Serialize};

use super::CpuMode;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Plan {
    pub mode: Mode,
    pub seed: u64,
    /// The command line that repeats this run, seed included.
    pub command: String,
    /// sha256 of the bench.toml that was read.
    pub bench_toml_sha256: String,
    pub profiles: Vec<Profile>,
    /// Which target is held against which; the A/A pair follows from [`Target::twin_of`](super::Target::twin_of).
    pub comparisons: Vec<Comparison>,
    /// The rules, fixed beforehand, by which a trial is void: a sentence each.
    pub exclusion_rules: Vec<String>,
    /// How often a void trial is repeated before its place stays empty.
    pub max_repeats: u32,
    /// Nothing is repeated where the run would then last longer than this.
    #[serde(default)]
    pub budget_seconds: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Proves the plumbing. No ratio and no verdict is ever published from it.
    Quick,
    Default,
    Thorough,
}

/// One way of loading, as planned: the scenarios that it is used on and the targets that take part.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Profile {
    /// As bench.toml names it.
    pub name: String,
    pub kind: ProfileKind,
    /// "k6", "bombardier", or "levelfield" for what the lab times itself (cold starts).
    pub generator: String,
    pub keep_alive: bool,
    pub blocks: u32,
    pub scenarios: Vec<Scenario>,
    /// Names of the targets, in bench.toml's order.
    pub targets: Vec<String>,
    /// Of one trial, without its warm-up. Absent where a trial ends by a number of requests.
    #[serde(default)]
    pub seconds: Option<f64>,
    #[serde(default)]
    pub warm_up: Option<String>,
    /// Closed loops: connections. Open loops: preallocated virtual users.
    #[serde(default)]
    pub connections: Option<u32>,
    /// Cold starts: whether the page cache was emptied before each.
    #[serde(default)]
    pub page_cache_dropped: bool,
    /// Limits, when they differ from the run's.
    #[serde(default)]
    pub cpu_mode: Option<CpuMode>,
    /// What was scaled down from the published original, for a reader who would compare: "50,000 of 5,000,000
    /// requests".
    #[serde(default)]
    pub scaled: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProfileKind {
    OriginalK6,
    OriginalClosed,
    FixedRate,
    Capacity,
    ColdStart,
    Soak,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Scenario {
    /// "hello", "users": as bench.toml names it.
    pub name: String,
    /// "GET /helloWorld".
    pub request: String,
    /// Further requests that were asked in turns with it.
    #[serde(default)]
    pub variants: Vec<String>,
    /// Open loops: the offered rate.
    #[serde(default)]
    pub rate: Option<f64>,
    /// Closed loops that end by a number of requests.
    #[serde(default)]
    pub requests: Option<u64>,
    /// Capacity: the p99 that a step of the ladder must not exceed.
    #[serde(default)]
    pub slo_p99_ms: Option<f64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Comparison {
    pub target: String,
    pub baseline: String,
}
