//! bombardier: a closed loop, cheap enough to saturate a fast server.

use std::time::Duration;

use serde::Deserialize;

use super::{Generator, GeneratorError, Load, Loaded, Program, Shape, Until};
use crate::interrupt::Interrupt;
use crate::limits::CpuSet;
use crate::results::{Figures, Gate, GateEffect, GateFinding, Latency, Quantile, Rate};

pub struct Bombardier(Program);

impl Bombardier {
    pub fn find(cpus: &CpuSet) -> Result<Self, testbed::Missing> {
        Program::find("bombardier", cpus).map(Self)
    }
}

/// A load that ends by a number of requests is given this long for each before it counts as hanging.
const SLOWEST: Duration = Duration::from_millis(2);

impl Generator for Bombardier {
    fn name(&self) -> &'static str {
        self.0.name
    }

    fn load(&self, load: &Load<'_>, interrupt: &Interrupt) -> Result<Loaded, GeneratorError> {
        let Shape::Closed { connections, until } = load.shape else {
            return Err(GeneratorError::Unable {
                generator: self.name(),
                what: "run an open loop",
            });
        };
        let mut command = self.0.command();
        command
            .args([
                "--fasthttp",
                "--latencies",
                "--format",
                "json",
                "--print",
                "result",
            ])
            .args([
                "--timeout",
                "10s",
                "--connections",
                &connections.to_string(),
            ]);
        let expected = match until {
            Until::Seconds(seconds) => {
                command.arg(format!("--duration={}ms", (seconds * 1e3).round()));
                Duration::from_secs_f64(seconds)
            }
            Until::Requests(requests) => {
                command.arg(format!("--requests={requests}"));
                SLOWEST * u32::try_from(requests).unwrap_or(u32::MAX)
            }
        };
        // It asks one URL; bench.toml gives it scenarios of one request only.
        command.arg(format!("{}{}", load.origin, load.asks[0].path));
        let ran = self.0.run(&mut command, expected, interrupt)?;
        if !ran.status.success() {
            return Err(GeneratorError::Failed {
                generator: self.name(),
                status: ran.status,
                output: ran.output,
            });
        }
        let printed: Printed = serde_json::from_str(ran.output.trim()).map_err(|error| {
            GeneratorError::Unreadable {
                generator: self.name(),
                what: error.to_string(),
                start: ran.output.chars().take(120).collect(),
            }
        })?;
        let mut figures = printed.result.figures(load.status);
        figures.generator_cpu = Some(ran.cores);
        let findings = printed.result.findings(load, &figures);
        Ok(Loaded { figures, findings })
    }
}

#[derive(Deserialize)]
struct Printed {
    result: Outcome,
}

/// Latencies in microseconds. Statuses are known by their class only.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Outcome {
    bytes_read: u64,
    time_taken_seconds: f64,
    req1xx: u64,
    req2xx: u64,
    req3xx: u64,
    req4xx: u64,
    req5xx: u64,
    others: u64,
    #[serde(default)]
    errors: Vec<Error>,
    latency: Spread,
    rps: Spread,
}

#[derive(Deserialize)]
struct Error {
    description: String,
    count: u64,
}

#[derive(Deserialize)]
struct Spread {
    mean: f64,
    stddev: f64,
    max: f64,
    #[serde(default)]
    percentiles: std::collections::BTreeMap<String, f64>,
}

impl Outcome {
    fn answered(&self) -> u64 {
        self.req1xx + self.req2xx + self.req3xx + self.req4xx + self.req5xx
    }

    /// Counts of a class are booked under its first status, and under the expected one where that is of the class.
    fn figures(&self, expected_status: u16) -> Figures {
        let classes = [
            (100, self.req1xx),
            (200, self.req2xx),
            (300, self.req3xx),
            (400, self.req4xx),
            (500, self.req5xx),
        ];
        let mut figures = Figures {
            bytes_received: Some(self.bytes_read),
            ..Figures::default()
        };
        for (class, count) in classes {
            let expected = expected_status / 100 * 100 == class;
            if expected {
                figures.completed = count;
            } else if count > 0 {
                figures
                    .errors
                    .insert(format!("status {class} to {}", class + 99), count);
            }
            if count > 0 {
                let status = if expected { expected_status } else { class };
                figures.statuses.insert(status, count);
            }
        }
        let mut named = 0;
        for error in &self.errors {
            named += error.count;
            figures
                .errors
                .insert(error.description.clone(), error.count);
        }
        if self.others > named {
            figures
                .errors
                .insert("no answer".into(), self.others - named);
        }
        figures.rate = Some(Rate {
            // The mean of its samples leaves out the start and the end: what was completed in the time is exact.
            mean: figures.completed as f64 / self.time_taken_seconds.max(1e-9),
            stdev: Some(self.rps.stddev),
            max: Some(self.rps.max),
        });
        let ms = |microseconds: f64| microseconds / 1e3;
        let mut quantiles: Vec<Quantile> = self
            .latency
            .percentiles
            .iter()
            .filter_map(|(percent, value)| {
                Some(Quantile {
                    p: percent.parse::<f64>().ok()? / 100.0,
                    ms: ms(*value),
                })
            })
            .collect();
        quantiles.sort_by(|a, b| a.p.total_cmp(&b.p));
        if figures.completed > 0 && figures.errors.is_empty() {
            figures.latency = Some(Latency {
                n: figures.completed,
                // bombardier does not print the smallest.
                min_ms: quantiles
                    .first()
                    .map_or(0.0, |first| first.ms.min(ms(self.latency.mean))),
                mean_ms: ms(self.latency.mean),
                max_ms: ms(self.latency.max),
                stdev_ms: Some(ms(self.latency.stddev)),
                quantiles,
            });
        }
        figures
    }

    /// bombardier looks at no body, but it counts bytes: too few for the bodies means that some were cut.
    fn findings(&self, load: &Load<'_>, figures: &Figures) -> Vec<GateFinding> {
        let mut findings = Vec::new();
        let wrong: u64 = figures.errors.values().sum();
        if wrong > 0 || figures.completed == 0 {
            findings.push(GateFinding {
                gate: Gate::ResponseErrors,
                effect: GateEffect::Void,
                reading: format!(
                    "{wrong} of {} answers were wrong or missing",
                    wrong + figures.completed
                ),
            });
        }
        let body = load.asks[0].body.as_ref();
        let least = body.map_or(0, Vec::len) as u64 * self.answered();
        if self.bytes_read < least {
            findings.push(GateFinding {
                gate: Gate::ResponseBytes,
                effect: GateEffect::Void,
                reading: format!(
                    "{} bytes received, the bodies alone have {least}",
                    self.bytes_read
                ),
            });
        }
        findings
    }
}

#[cfg(test)]
mod tests {
    use super::Printed;

    const FINE: &str = r#"{"spec":{"numberOfConnections":5},"result":{"bytesRead":58000,"bytesWritten":37500,
        "timeTakenSeconds":4.0,"req1xx":0,"req2xx":500,"req3xx":0,"req4xx":0,"req5xx":0,"others":0,
        "latency":{"mean":44885.8,"stddev":4028.8,"max":52117,"percentiles":{"50":44015,"75":47945,"99":51899}},
        "rps":{"mean":111.05,"stddev":59.08,"max":272.07,"percentiles":{"50":100.7}}}}"#;

    #[test]
    fn the_printed_result_is_read_in_milliseconds() {
        let printed: Printed = serde_json::from_str(FINE).unwrap();
        let figures = printed.result.figures(200);
        assert_eq!(figures.completed, 500);
        assert_eq!(figures.statuses[&200], 500);
        assert_eq!(figures.rate.unwrap().mean, 125.0);
        let latency = figures.latency.unwrap();
        assert_eq!(latency.max_ms, 52.117);
        assert_eq!(latency.quantiles.len(), 3);
        assert_eq!(
            (latency.quantiles[2].p, latency.quantiles[2].ms),
            (0.99, 51.899)
        );
    }

    #[test]
    fn errors_are_named_and_leave_no_latency() {
        let text = FINE
            .replace(
                r#""others":0"#,
                r#""others":7,"errors":[{"description":"dial tcp: refused","count":5}]"#,
            )
            .replace(r#""req5xx":0"#, r#""req5xx":3"#);
        let printed: Printed = serde_json::from_str(&text).unwrap();
        let figures = printed.result.figures(200);
        assert_eq!(figures.errors["dial tcp: refused"], 5);
        assert_eq!(figures.errors["no answer"], 2);
        assert_eq!(figures.errors["status 500 to 599"], 3);
        assert!(figures.latency.is_none());
    }
}
