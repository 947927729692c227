//! What was compared: targets, what they are made of, and their answers to the contract suite.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Fact;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Target {
    pub name: String,
    /// One line for a reader: "the component (WASI 0.3) on levelfield-host, instances reused".
    pub description: String,
    pub kind: TargetKind,
    /// The other name of the same target: this one is the A/A control.
    #[serde(default)]
    pub twin_of: Option<String>,
    /// Why it did not run: "no spin on PATH". Absent when it did.
    #[serde(default)]
    pub missing: Option<String>,
    #[serde(default)]
    pub command: Vec<String>,
    /// The environment that it was given; no secrets.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// False for one that is not asked the contract suite: then its scenarios' own checks are what it is held to.
    #[serde(default = "held_to_the_contract")]
    pub contract: bool,
    /// False for a server that the lab did not start (`--target name=url`): no limits, no verdict.
    pub managed: bool,
    #[serde(default)]
    pub url: Option<String>,
    /// What the server is made of: binary, .wasm, .cwasm.
    #[serde(default)]
    pub artifacts: Vec<Artifact>,
    #[serde(default)]
    pub lines_of_code: Option<LinesOfCode>,
    #[serde(default)]
    pub build_seconds: Option<f64>,
    #[serde(default)]
    pub dependencies: Option<u32>,
    /// Engine and version, instance reuse, precompiled or not, allocator, runtime knobs: what parity asks to disclose.
    #[serde(default)]
    pub disclosures: Vec<Fact>,
}

fn held_to_the_contract() -> bool {
    true
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TargetKind {
    Component,
    Native,
    /// Ours, to tell costs apart: the host with a native handler.
    Control,
    /// Somebody's own server.
    Other,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Artifact {
    /// "binary", "wasm", "cwasm".
    pub kind: String,
    /// File name, without its directory.
    pub file: String,
    pub bytes: u64,
    pub sha256: String,
}

/// Code lines of hand-written source: no blanks, no comments, no tests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinesOfCode {
    pub total: u64,
    pub by_language: BTreeMap<String, u64>,
    /// The paths that were counted, as bench.toml gives them.
    pub sources: Vec<String>,
}

/// One target's answers to the contract suite.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ContractCheck {
    pub target: String,
    pub cases: Vec<CaseResult>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CaseResult {
    pub case: String,
    pub outcome: CaseOutcome,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CaseOutcome {
    Pass,
    /// What differed, bytes escaped: "status: expected 404, got 301".
    Fail {
        difference: String,
    },
    NotRun {
        why: String,
    },
}
