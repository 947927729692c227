//! Where it ran, and how the servers under test were confined.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Environment {
    pub machine: Machine,
    pub limits: Limits,
    /// The load generators, and what else was run as a program (MongoDB, for one).
    #[serde(default)]
    pub programs: Vec<Program>,
    #[serde(default)]
    pub git: Option<Git>,
    /// All else that a reader may want to know, in the order to print it: governor, clock source, transparent huge
    /// pages, mitigations, compiler and flags.
    #[serde(default)]
    pub facts: Vec<Fact>,
    /// What on this machine spoils or limits the measurement, a sentence each (the lines of `levelfield doctor`).
    #[serde(default)]
    pub cautions: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    pub cpu_model: String,
    pub logical_cpus: u32,
    pub memory_bytes: u64,
    pub kernel: String,
    pub os: String,
    pub architecture: String,
    /// "kvm", "docker" and the like; absent on bare metal or where it cannot be told.
    #[serde(default)]
    pub virtualization: Option<String>,
}

/// How the servers under test were confined.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Limits {
    /// The rung of the ladder that was used: "cgroup v2", "systemd scope", "cgroup v1" or "affinity and watchdog".
    pub backend: String,
    pub cpu_mode: CpuMode,
    /// CPUs that a server may use.
    pub cpus: f64,
    pub memory_bytes: u64,
    /// Why the limit is weaker than it sounds, when it is: "memory is watched, not enforced".
    #[serde(default)]
    pub weakness: Option<String>,
    /// CPU sets as the kernel writes them, "0" or "2-3"; absent where nothing was pinned.
    #[serde(default)]
    pub server_cpus: Option<String>,
    #[serde(default)]
    pub generator_cpus: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CpuMode {
    /// Whole cores by affinity: what claims are made from.
    #[default]
    Pin,
    /// CFS quota per 100 ms over all cores: what `docker --cpus` does.
    Quota,
    /// No limit could be set, or none was asked for.
    Unlimited,
}

impl CpuMode {
    /// As bench.toml and results.json spell it.
    pub fn name(self) -> &'static str {
        match self {
            CpuMode::Pin => "pin",
            CpuMode::Quota => "quota",
            CpuMode::Unlimited => "unlimited",
        }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Program {
    pub name: String,
    pub version: String,
    #[serde(default)]
    pub sha256: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Git {
    pub commit: String,
    pub dirty: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fact {
    pub name: String,
    pub value: String,
}
