//! k6: an open loop at a constant arrival rate.

use std::time::Duration;

use super::{Ask, Generator, GeneratorError, K6Summary, Load, Loaded, Program, QUANTILES, Shape};
use crate::interrupt::Interrupt;
use crate::limits::CpuSet;

const SCRIPT: &str = include_str!("k6.js");

pub struct K6(Program);

impl K6 {
    pub fn find(cpus: &CpuSet) -> Result<Self, testbed::Missing> {
        Program::find("k6", cpus).map(Self)
    }
}

impl Generator for K6 {
    fn name(&self) -> &'static str {
        self.0.name
    }

    fn load(&self, load: &Load<'_>, interrupt: &Interrupt) -> Result<Loaded, GeneratorError> {
        let Shape::Open { rate, vus, seconds } = load.shape else {
            return Err(GeneratorError::Unable {
                generator: self.name(),
                what: "run a closed loop here",
            });
        };
        let dir = tempfile::tempdir()?;
        let [script, asks, summary, log] =
            ["script.js", "asks.json", "summary.json", "log"].map(|name| dir.path().join(name));
        std::fs::write(&script, SCRIPT)?;
        std::fs::write(&asks, asks_json(load.asks))?;
        let mut command = self.0.command();
        command
            .current_dir(dir.path())
            .args(["run", "--quiet", "--no-color", "--address", ""])
            .args(["--log-format", "json"])
            .arg(format!("--log-output=file={}", log.display()))
            .arg(&script)
            .env("K6_NO_USAGE_REPORT", "true")
            .env("ORIGIN", load.origin.to_string())
            .env("STATUS", load.status.to_string())
            .env("ASKS_FILE", &asks)
            .env("SEED", load.seed.to_string())
            .env("RATE", rate.to_string())
            .env("DURATION", format!("{}ms", (seconds * 1e3).round()))
            .env("VUS", vus.to_string())
            .env("TREND_STATS", trend_stats())
            .env("SUMMARY", &summary);
        let ran = self
            .0
            .run(&mut command, Duration::from_secs_f64(seconds), interrupt)?;
        let text = std::fs::read_to_string(&summary).unwrap_or_default();
        if text.is_empty() {
            return Err(GeneratorError::Failed {
                generator: self.name(),
                status: ran.status,
                output: ran.output + &std::fs::read_to_string(&log).unwrap_or_default(),
            });
        }
        let parsed = K6Summary::parse(&text).map_err(|error| GeneratorError::Unreadable {
            generator: self.name(),
            what: error.to_string(),
            start: text.chars().take(120).collect(),
        })?;
        let log = std::fs::read_to_string(&log).unwrap_or_default();
        let mut findings = parsed.findings(rate, seconds, &log);
        // 0: fine; 99: a threshold was crossed, and our only one cannot be.
        if ran.status.code() != Some(0) {
            findings.push(super::k6_summary::script_error(format!(
                "k6 ended with {}",
                ran.status
            )));
        }
        let mut figures = parsed.figures(rate);
        figures.generator_cpu = Some(ran.cores);
        Ok(Loaded { figures, findings })
    }
}

/// k6 compares bodies as text, and so is what it is given.
fn asks_json(asks: &[Ask]) -> String {
    let text = |body: &Vec<u8>| String::from_utf8_lossy(body).into_owned();
    let asks: Vec<serde_json::Value> = asks
        .iter()
        .map(|ask| serde_json::json!({ "path": ask.path, "body": ask.body.as_ref().map(text) }))
        .collect();
    serde_json::Value::from(asks).to_string()
}

fn trend_stats() -> String {
    let mut stats: Vec<String> = ["min", "avg", "med", "max", "count"]
        .map(String::from)
        .to_vec();
    stats.extend(QUANTILES.iter().map(|p| format!("p({})", percent(*p))));
    stats.join(",")
}

/// 0.9995 as 99.95, without the noise of binary fractions.
fn percent(p: f64) -> f64 {
    (p * 1e6).round() / 1e4
}
