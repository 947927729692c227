//! `results.json`: what a run planned, what it met, what it measured and what it threw away.
//!
//! The measuring half (`run`) fills these types; the telling half (`stats`, `report`, `compare`) only reads them.
//! Nothing here is computed: every number was read from a generator, the kernel or a clock. Ratios, verdicts and
//! labels that follow from several trials are derived when the report is written, so that an old file can be told
//! anew by a newer lab. Durations are in the unit that the field's name ends in; rates are requests per second.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

mod environment;
mod plan;
mod target;
mod trial;

pub use environment::*;
pub use plan::*;
pub use target::*;
pub use trial::*;

/// Raised by one when a field changes its meaning or goes away; a field added with a default does not raise it.
pub const SCHEMA_VERSION: u32 = 1;

/// The file's name inside a run's directory.
pub const FILE_NAME: &str = "results.json";

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Results {
    pub schema_version: u32,
    /// The version of the lab that measured.
    pub lab_version: String,
    /// RFC 3339, UTC, to the second.
    pub started: String,
    /// Absent while the run goes on, and in the file of a run that was killed.
    #[serde(default)]
    pub finished: Option<String>,
    /// Why the plan was not carried out to its end: "interrupted", or what failed. Absent when it was.
    #[serde(default)]
    pub stopped_early: Option<String>,
    pub environment: Environment,
    pub plan: Plan,
    /// Every target of the plan, those that could not run included.
    pub targets: Vec<Target>,
    /// The generators against the null server, in this run.
    #[serde(default)]
    pub calibrations: Vec<Calibration>,
    /// The contract suite's answer for each target that was started, in this run.
    #[serde(default)]
    pub contract: Vec<ContractCheck>,
    /// In run order, voided and failed ones included.
    #[serde(default)]
    pub trials: Vec<Trial>,
}

#[derive(Debug, thiserror::Error)]
pub enum ResultsError {
    #[error("cannot read {path}: {source}")]
    Read {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("cannot write {path}: {source}")]
    Write {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("{path} is not a levelfield result: {source}")]
    Parse {
        path: PathBuf,
        source: serde_json::Error,
    },
    #[error(
        "{path} has schema version {found}, this levelfield reads {SCHEMA_VERSION}: use the levelfield that wrote it, or run again"
    )]
    Version { path: PathBuf, found: u64 },
}

impl Results {
    /// Reads a result; `path` is the file, or the run's directory.
    pub fn read(path: &Path) -> Result<Results, ResultsError> {
        let path = if path.is_dir() {
            path.join(FILE_NAME)
        } else {
            path.to_owned()
        };
        let text = std::fs::read(&path).map_err(|source| ResultsError::Read {
            path: path.clone(),
            source,
        })?;
        // The version first: a file of another version may well not parse, and deserves the better message.
        let value: serde_json::Value =
            serde_json::from_slice(&text).map_err(|source| ResultsError::Parse {
                path: path.clone(),
                source,
            })?;
        match value
            .get("schema_version")
            .and_then(serde_json::Value::as_u64)
        {
            Some(found) if found != u64::from(SCHEMA_VERSION) => {
                Err(ResultsError::Version { path, found })
            }
            _ => {
                serde_json::from_value(value).map_err(|source| ResultsError::Parse { path, source })
            }
        }
    }

    /// Writes `results.json` into `dir`, whole or not at all: it is rewritten after every trial, and a run may be
    /// killed at any moment.
    pub fn write(&self, dir: &Path) -> Result<(), ResultsError> {
        let path = dir.join(FILE_NAME);
        let part = dir.join(format!("{FILE_NAME}.part"));
        let text = serde_json::to_vec_pretty(self).map_err(|source| ResultsError::Parse {
            path: path.clone(),
            source,
        })?;
        std::fs::write(&part, text)
            .and_then(|()| std::fs::rename(&part, &path))
            .map_err(|source| ResultsError::Write { path, source })
    }

    pub fn target(&self, name: &str) -> Option<&Target> {
        self.targets.iter().find(|target| target.name == name)
    }

    pub fn profile(&self, name: &str) -> Option<&Profile> {
        self.plan
            .profiles
            .iter()
            .find(|profile| profile.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_another_schema_version_is_refused_by_name_of_the_version() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(FILE_NAME), r#"{"schema_version": 7}"#).unwrap();
        let error = Results::read(dir.path()).unwrap_err().to_string();
        assert!(
            error.contains("schema version 7, this levelfield reads 1"),
            "{error}"
        );
    }

    #[test]
    fn a_file_that_is_something_else_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(FILE_NAME), "[]").unwrap();
        let error = Results::read(dir.path()).unwrap_err().to_string();
        assert!(error.contains("is not a levelfield result"), "{error}");
    }

    #[test]
    fn a_trial_comes_back_from_json_as_it_went() {
        let trial = Trial {
            sequence: 3,
            profile: "fixed-rate".into(),
            scenario: "hello".into(),
            target: "native-rust".into(),
            block: 1,
            attempt: 0,
            started_seconds: 12.5,
            seconds: 10.0,
            outcome: Outcome::Void {
                why: "foreign load".into(),
            },
            figures: Some(Figures {
                statuses: [(200, 7)].into(),
                ..Figures::default()
            }),
            gates: vec![GateFinding {
                gate: Gate::ForeignLoad,
                effect: GateEffect::Void,
                reading: "41 % of a core, limit 10 %".into(),
            }],
        };
        let json = serde_json::to_string(&trial).unwrap();
        let back: Trial = serde_json::from_str(&json).unwrap();
        assert_eq!(json, serde_json::to_string(&back).unwrap());
        assert_eq!(back.outcome, trial.outcome);
        assert_eq!(back.figures.unwrap().statuses[&200], 7);
    }
}
