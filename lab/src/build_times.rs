//! How long each target takes to build from nothing: timed by `levelfield build-times`, kept below target/, and told by
//! the reports that come after.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::config::{Config, Target};
use crate::programs;

const PATIENCE: Duration = Duration::from_secs(3600);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BuildTime {
    pub seconds: f64,
    /// RFC 3339, UTC.
    pub measured: String,
    /// Logical CPUs that the build could use.
    pub cpus: u32,
}

/// By target.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BuildTimes(BTreeMap<String, BuildTime>);

impl BuildTimes {
    /// Those that were timed before; none where nothing was.
    pub fn read(dir: &Path) -> Self {
        std::fs::read(file(dir))
            .ok()
            .and_then(|text| serde_json::from_slice(&text).ok())
            .unwrap_or_default()
    }

    pub fn write(&self, dir: &Path) -> anyhow::Result<()> {
        let file = file(dir);
        std::fs::create_dir_all(dir.join("target"))?;
        Ok(std::fs::write(file, serde_json::to_vec_pretty(self)?)?)
    }

    pub fn get(&self, target: &str) -> Option<&BuildTime> {
        self.0.get(target)
    }

    pub fn set(&mut self, target: &str, time: BuildTime) {
        self.0.insert(target.to_owned(), time);
    }
}

fn file(dir: &Path) -> PathBuf {
    dir.join("target/build-times.json")
}

/// Builds `target` as its `clean_build` says, into an empty directory that BUILD_DIR names.
pub fn time(config: &Config, target: &Target) -> anyhow::Result<BuildTime> {
    let empty = tempfile::tempdir()?;
    let program = programs::find(&config.dir, &target.clean_build[0])?;
    let began = Instant::now();
    let finished = testbed::run(
        Command::new(program)
            .args(&target.clean_build[1..])
            .current_dir(&config.dir)
            .env("BUILD_DIR", empty.path()),
        PATIENCE,
    )?;
    let seconds = began.elapsed().as_secs_f64();
    anyhow::ensure!(
        finished.status.success(),
        "its clean_build ended with {}:\n{}",
        finished.status,
        finished.stderr.trim_end()
    );
    Ok(BuildTime {
        seconds,
        measured: crate::bench::now(),
        cpus: std::thread::available_parallelism().map_or(1, |cpus| cpus.get() as u32),
    })
}
