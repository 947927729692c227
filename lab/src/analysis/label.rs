//! What has to stand beside a figure so that it misleads nobody.

use std::collections::BTreeSet;

use crate::metric::Metric;
use crate::results::{Calibration, Comparison, Gate, GateEffect, Outcome, Profile, Results, Trial};
use crate::stats::quantile;

/// A latency below this many times the generator's own is the generator's as much as the server's.
const FLOOR_FACTOR: f64 = 1.5;

/// Bytes per answer may differ by this share before it is said.
const BYTES_TOLERANCE: f64 = 0.01;

/// A rate above the generator's ceiling divided by this was held back by the generator.
const CEILING_FACTOR: f64 = 1.3;

#[derive(Clone, Debug, PartialEq, PartialOrd)]
pub enum Label {
    /// The target's latency is hardly above what the generator reads from a server that does nothing.
    InstrumentLimit { target: String, floor_ms: f64 },
    /// The generator itself could hardly send more.
    GeneratorBound { target: String, ceiling: f64 },
    /// Bytes received for an answer. Bodies were compared byte for byte, so that what differs are headers.
    HeaderBytes { target: f64, baseline: f64 },
    /// A gate's finding that left the trials counted.
    Gate { gate: Gate, trials: usize },
}

impl std::fmt::Display for Label {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Label::InstrumentLimit { target, floor_ms } => write!(
                f,
                "at the instrument's limit: {target} is within {FLOOR_FACTOR}× of the generator's own {floor_ms:.2} ms"
            ),
            Label::GeneratorBound { target, ceiling } => write!(
                f,
                "lower bound only: {target} is within {CEILING_FACTOR}× of the generator's ceiling, {ceiling:.0} requests per second"
            ),
            Label::HeaderBytes { target, baseline } => write!(
                f,
                "equal bodies under headers of different size: an answer has {target:.0} bytes against {baseline:.0}"
            ),
            Label::Gate { gate, trials } => {
                let s = if *trials == 1 { "" } else { "s" };
                write!(f, "{} in {trials} trial{s}", gate.title())
            }
        }
    }
}

impl Label {
    pub fn of(
        results: &Results,
        profile: &Profile,
        scenario: &str,
        comparison: &Comparison,
        metric: Metric,
    ) -> Vec<Label> {
        let mut labels = Vec::new();
        for target in [&comparison.target, &comparison.baseline] {
            labels.extend(Label::of_target(results, profile, scenario, target, metric));
        }
        let targets = [comparison.target.as_str(), comparison.baseline.as_str()];
        labels.extend(Label::gates(counted(
            results,
            &profile.name,
            scenario,
            &targets,
        )));
        labels
    }

    /// What the calibrations say of one target's figure.
    pub fn of_target(
        results: &Results,
        profile: &Profile,
        scenario: &str,
        target: &str,
        metric: Metric,
    ) -> Option<Label> {
        let trials = counted(results, &profile.name, scenario, &[target]);
        let values: Vec<f64> = trials.iter().filter_map(|trial| metric.of(trial)).collect();
        let value = quantile::median(&values)?;
        let floor = |p: f64| {
            calibrations(results, profile, scenario)
                .filter_map(|calibration| calibration.latency.percentile(p))
                .reduce(f64::min)
                .filter(|floor| value <= floor * FLOOR_FACTOR)
                .map(|floor_ms| Label::InstrumentLimit {
                    target: target.to_owned(),
                    floor_ms,
                })
        };
        match metric {
            Metric::P50 => floor(0.50),
            Metric::P99 => floor(0.99),
            Metric::Capacity => Label::of_rate(results, profile, scenario, target, value),
            Metric::CpuPerRequest | Metric::ColdStart | Metric::PeakMemory => None,
        }
    }

    /// What the calibrations say of a rate that a target reached.
    pub fn of_rate(
        results: &Results,
        profile: &Profile,
        scenario: &str,
        target: &str,
        rate: f64,
    ) -> Option<Label> {
        let ceiling = calibrations(results, profile, scenario)
            .map(|calibration| calibration.achieved_rate)
            .reduce(f64::max)
            .filter(|ceiling| *ceiling < rate * CEILING_FACTOR)?;
        Some(Label::GeneratorBound {
            target: target.to_owned(),
            ceiling,
        })
    }

    /// Of target's and baseline's bytes per answer.
    pub fn of_size((target, baseline): (f64, f64)) -> Option<Label> {
        let differ = (target / baseline - 1.0).abs() > BYTES_TOLERANCE;
        differ.then_some(Label::HeaderBytes { target, baseline })
    }

    /// Gates that labelled some of these trials, each once.
    pub fn gates(trials: Vec<&Trial>) -> Vec<Label> {
        let labelling = |trial: &&Trial| -> BTreeSet<Gate> {
            let findings = trial.gates.iter();
            findings
                .filter(|f| f.effect == GateEffect::Label)
                .map(|f| f.gate)
                .collect()
        };
        let found: Vec<BTreeSet<Gate>> = trials.iter().map(labelling).collect();
        let gates: BTreeSet<Gate> = found.iter().flatten().copied().collect();
        let in_trials = |gate| found.iter().filter(|found| found.contains(&gate)).count();
        gates
            .into_iter()
            .map(|gate| Label::Gate {
                gate,
                trials: in_trials(gate),
            })
            .collect()
    }
}

fn calibrations<'a>(
    results: &'a Results,
    profile: &'a Profile,
    scenario: &'a str,
) -> impl Iterator<Item = &'a Calibration> {
    results.calibrations.iter().filter(move |calibration| {
        calibration.profile == profile.name
            && calibration
                .scenario
                .as_deref()
                .is_none_or(|name| name == scenario)
    })
}

/// The trials of these targets that count.
pub fn counted<'a>(
    results: &'a Results,
    profile: &str,
    scenario: &str,
    targets: &[&str],
) -> Vec<&'a Trial> {
    let of_load = |trial: &&Trial| {
        trial.profile == profile
            && trial.scenario == scenario
            && targets.contains(&trial.target.as_str())
            && trial.outcome == Outcome::Counted
    };
    results.trials.iter().filter(of_load).collect()
}

impl Gate {
    pub fn title(self) -> &'static str {
        match self {
            Gate::Contract => "contract not met",
            Gate::SocketOwner => "port owned by another process",
            Gate::GeneratorHeadroom => "generator short of CPU",
            Gate::DroppedIterations => "iterations dropped",
            Gate::OfferedRate => "offered rate missed",
            Gate::ForeignLoad => "foreign load",
            Gate::CpuSteal => "CPU stolen by the hypervisor",
            Gate::CpuPressure => "CPU pressure",
            Gate::Throttled => "CPU throttled by quota",
            Gate::ScriptErrors => "load script threw",
            Gate::ResponseErrors => "error answers",
            Gate::ResponseBytes => "answers of unexpected size",
            Gate::ServerDied => "server died",
            Gate::OutOfMemory => "out of memory",
            Gate::NotSteady => "not steady after warm-up",
        }
    }
}
