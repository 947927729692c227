//! bench.toml: targets, services, scenarios and profiles, as a person writes them.
//!
//! Whatever cannot be meant is refused by name, with the way out; nothing unknown is ignored.

mod load;
mod placeholders;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

pub use load::ConfigError;
pub use placeholders::{Placeholders, named_in};

use crate::generators::Ask;
use crate::results::{CpuMode, Mode, ProfileKind, TargetKind};

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Where bench.toml lies; its paths start here.
    #[serde(skip)]
    pub dir: PathBuf,
    /// Of the file as it was read.
    #[serde(skip)]
    pub sha256: String,
    #[serde(default)]
    pub limits: Limits,
    #[serde(default, rename = "service")]
    pub services: BTreeMap<String, Service>,
    #[serde(rename = "target")]
    pub targets: Vec<Target>,
    #[serde(default, rename = "twin")]
    pub twins: Vec<Twin>,
    #[serde(default, rename = "comparison")]
    pub comparisons: Vec<Comparison>,
    #[serde(default, rename = "scenario")]
    pub scenarios: Vec<Scenario>,
    #[serde(default, rename = "profile")]
    pub profiles: Vec<Profile>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    pub cpus: u32,
    pub memory_mb: u64,
    pub max_repeats: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            cpus: 1,
            memory_mb: 512,
            max_repeats: 2,
        }
    }
}

/// A program that targets need beside them.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Service {
    /// The store whose states the contract suite asks for.
    #[serde(default)]
    pub store: bool,
    pub builtin: Option<Builtin>,
    #[serde(default)]
    pub command: Vec<String>,
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// A path that answers 200 when it can be used.
    pub ready: Option<String>,
    /// What `{NAME}` stands for.
    pub url: Option<String>,
    /// Started afresh with each trial, inside the target's limits, and counted with it.
    #[serde(default)]
    pub with_target: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Builtin {
    /// A server of our own that speaks MongoDB's protocol, seeded with contract/seed.jsonl.
    Mongo,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    pub name: String,
    #[serde(default)]
    pub description: String,
    #[serde(default = "other")]
    pub kind: TargetKind,
    pub command: Vec<String>,
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Where it is started; below bench.toml's directory.
    pub cwd: Option<PathBuf>,
    /// A path that answers 200 when it serves; default: the scenario's own.
    pub ready: Option<String>,
    /// What must have been built, beside the program itself.
    #[serde(default)]
    pub files: Vec<PathBuf>,
    /// What it cannot be built without.
    pub toolchain: Option<String>,
    /// How to build it.
    pub build: Option<String>,
    /// Hand-written code, counted for the report.
    #[serde(default)]
    pub sources: Vec<String>,
    /// Prints what it depends on, a line each; counted for the report.
    #[serde(default)]
    pub dependencies: Vec<String>,
    /// Builds it from nothing; timed by `levelfield build-times`.
    #[serde(default)]
    pub clean_build: Vec<String>,
    /// What a reader needs to know to call the comparison fair, beside what the command shows.
    #[serde(default)]
    pub discloses: BTreeMap<String, String>,
    /// The only scenarios that it takes part in; default: all.
    pub scenarios: Option<Vec<String>>,
    /// False for a server that does not answer the whole contract: then its scenarios' own checks judge it.
    #[serde(default = "yes")]
    pub contract: bool,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Twin {
    pub name: String,
    pub of: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Comparison {
    pub target: String,
    pub baseline: String,
}

/// A request and the only right answer to it, or several of them that are asked in turns.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    pub name: String,
    pub path: String,
    #[serde(default = "ok")]
    pub status: u16,
    pub body: Option<String>,
    /// The body stands in this file.
    pub body_file: Option<PathBuf>,
    /// Of the body.
    pub sha256: Option<String>,
    /// Further requests, answered with the same status: which comes when is drawn from the seed, alike for every
    /// target, so that a constant answer is found out.
    #[serde(default, rename = "variant")]
    pub variants: Vec<Variant>,
    /// A store of Levelfield's users: before and after each load the lab writes a user of its own there and asks
    /// the target for it at `/users/ID`, so that another store, or a cache, is found out.
    pub canary: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    pub path: String,
    pub body: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    pub name: String,
    pub kind: ProfileKind,
    /// Those it belongs to.
    #[serde(default = "every_mode")]
    pub modes: Vec<Mode>,
    pub blocks: ByMode<u32>,
    pub scenarios: ByMode<Vec<String>>,
    /// Default: all targets.
    #[serde(default)]
    pub targets: ByMode<Vec<String>>,
    #[serde(default)]
    pub seconds: ByMode<f64>,
    /// A server is warmed up for so long at least, and then until it is steady,
    #[serde(default)]
    pub warm_up_seconds: ByMode<f64>,
    /// but for no longer than this; default: `warm_up_seconds`, which is then its fixed length.
    #[serde(default)]
    pub warm_up_at_most: ByMode<f64>,
    /// Open loops: offered requests per second, by scenario.
    #[serde(default)]
    pub rates: BTreeMap<String, f64>,
    /// Open loops: requests that may be under way at a time.
    #[serde(default = "some_vus")]
    pub vus: u32,
    #[serde(default = "one")]
    pub connections: u32,
    /// Closed loops that end by number, by scenario.
    #[serde(default)]
    pub requests: BTreeMap<String, u64>,
    #[serde(default)]
    pub original_requests: BTreeMap<String, u64>,
    /// Capacity: connections of each step.
    #[serde(default)]
    pub ladder: Vec<u32>,
    pub slo_p99_ms: Option<f64>,
    /// Cold starts in one trial.
    #[serde(default = "one")]
    pub spawns: u32,
    /// Cold starts: empty the machine's page cache before each; needs root.
    #[serde(default)]
    pub drop_page_cache: bool,
    pub cpu_mode: Option<CpuMode>,
}

/// A value for each mode; one that is absent is the default mode's.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ByMode<T> {
    pub quick: Option<T>,
    pub default: Option<T>,
    pub thorough: Option<T>,
}

impl<T> Default for ByMode<T> {
    fn default() -> Self {
        Self {
            quick: None,
            default: None,
            thorough: None,
        }
    }
}

impl<T> ByMode<T> {
    pub fn get(&self, mode: Mode) -> Option<&T> {
        let own = match mode {
            Mode::Quick => &self.quick,
            Mode::Default => &self.default,
            Mode::Thorough => &self.thorough,
        };
        own.as_ref().or(self.default.as_ref())
    }
}

impl Config {
    /// The target of this name; a twin's is that of its other name.
    pub fn target(&self, name: &str) -> Option<&Target> {
        let twin = self.twins.iter().find(|twin| twin.name == name);
        let name = twin.map_or(name, |twin| twin.of.as_str());
        self.targets.iter().find(|target| target.name == name)
    }

    pub fn scenario(&self, name: &str) -> Option<&Scenario> {
        self.scenarios.iter().find(|scenario| scenario.name == name)
    }

    pub fn path(&self, path: &Path) -> PathBuf {
        self.dir.join(path)
    }
}

impl Scenario {
    /// Its requests, each with its body where that is known in full.
    pub fn asks(&self, dir: &Path) -> std::io::Result<Vec<Ask>> {
        let body = match (&self.body, &self.body_file) {
            (Some(body), _) => Some(body.clone().into_bytes()),
            (None, Some(file)) => Some(std::fs::read(dir.join(file))?),
            (None, None) => None,
        };
        let first = Ask {
            path: self.path.clone(),
            body,
        };
        let further = self.variants.iter().map(|variant| Ask {
            path: variant.path.clone(),
            body: Some(variant.body.clone().into_bytes()),
        });
        Ok(std::iter::once(first).chain(further).collect())
    }
}

fn other() -> TargetKind {
    TargetKind::Other
}

fn yes() -> bool {
    true
}

fn ok() -> u16 {
    200
}

fn one() -> u32 {
    1
}

fn some_vus() -> u32 {
    32
}

fn every_mode() -> Vec<Mode> {
    vec![Mode::Quick, Mode::Default, Mode::Thorough]
}
