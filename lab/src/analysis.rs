//! From trials to ratios, verdicts, labels and the badge: everything that a run says beyond its raw figures.
//!
//! A ratio is refused, not softened, where its ground is missing: a server that was not checked against the contract
//! in this run, or one that we did not start.

mod label;
mod pairs;
mod trust;

pub use label::{Label, counted};
pub use trust::{Control, Trust};

use crate::metric::Metric;
use crate::results::{CaseOutcome, Comparison, Mode, Profile, Results, Scenario};
use crate::stats::holm;
use crate::stats::interval::{Bootstrap, Interval};
use crate::stats::random::seed_for;
use crate::stats::verdict::{Verdict, judge};
use pairs::Pairs;

/// The chance of even one false word in a family of comparisons.
pub const ALPHA: f64 = 0.05;

#[derive(Clone, Debug)]
pub struct Analysis {
    /// Every planned comparison in every metric of every profile, refused ones included.
    pub ratios: Vec<Ratio>,
    /// The same target under two names: the A/A control, a family of its own.
    pub control: Vec<Ratio>,
    pub trust: Trust,
}

/// `target / baseline` in one metric under one load.
#[derive(Clone, Debug)]
pub struct Ratio {
    pub profile: String,
    pub scenario: String,
    pub target: String,
    pub baseline: String,
    pub metric: Metric,
    /// Blocks that hold a counted trial of both.
    pub blocks: usize,
    /// The geometric mean of the blocks' ratios (of tails: the ratio of the pooled quantiles) and its interval.
    /// Absent where refused or fewer than two blocks were measured.
    pub measured: Option<Measured>,
    pub finding: Finding,
    pub labels: Vec<Label>,
}

#[derive(Clone, Copy, Debug)]
pub struct Measured {
    pub ratio: f64,
    pub interval: Interval,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Finding {
    Verdict(Verdict),
    /// Why there is none.
    Withheld(String),
}

impl Analysis {
    pub fn of(results: &Results) -> Analysis {
        let ratios = family(results, &results.plan.comparisons);
        let twins: Vec<Comparison> = results
            .targets
            .iter()
            .filter_map(|target| {
                let baseline = target.twin_of.clone()?;
                Some(Comparison {
                    target: target.name.clone(),
                    baseline,
                })
            })
            .collect();
        let control = family(results, &twins);
        let trust = Trust::of(results, &control);
        Analysis {
            ratios,
            control,
            trust,
        }
    }
}

/// One family: its intervals are widened together, so that the promise of [`ALPHA`] holds for all of them at once.
fn family(results: &Results, comparisons: &[Comparison]) -> Vec<Ratio> {
    let mut ratios = Vec::new();
    let mut bootstraps = Vec::new();
    for profile in &results.plan.profiles {
        for scenario in &profile.scenarios {
            for comparison in comparisons {
                let takes_part = |name: &String| profile.targets.contains(name);
                if !takes_part(&comparison.target) || !takes_part(&comparison.baseline) {
                    continue;
                }
                for &metric in Metric::judged(profile.kind) {
                    let (ratio, bootstrap) =
                        measure(results, profile, scenario, comparison, metric);
                    ratios.push(ratio);
                    bootstraps.push(bootstrap);
                }
            }
        }
    }
    correct(&mut ratios, &bootstraps);
    ratios
}

/// Widens the intervals of those with enough blocks by Holm and judges them; the others keep 95 % and get no word.
pub(crate) fn correct(ratios: &mut [Ratio], bootstraps: &[Option<Bootstrap>]) {
    let enough: Vec<usize> = (0..ratios.len())
        .filter(|&i| bootstraps[i].is_some() && ratios[i].blocks >= ratios[i].metric.min_blocks())
        .collect();
    let alphas: Vec<f64> = enough
        .iter()
        .filter_map(|&i| {
            bootstraps[i]
                .as_ref()
                .map(|bootstrap| bootstrap.alpha_excluding(0.0))
        })
        .collect();
    let levels = holm::levels(&alphas, ALPHA);
    for (i, bootstrap) in bootstraps.iter().enumerate() {
        let Some(bootstrap) = bootstrap else { continue };
        let corrected = enough.iter().position(|&j| j == i).map(|rank| levels[rank]);
        let logarithmic = bootstrap.interval(corrected.unwrap_or(1.0 - ALPHA));
        let interval = Interval {
            low: logarithmic.low.exp(),
            high: logarithmic.high.exp(),
            level: logarithmic.level,
        };
        let ratio = &mut ratios[i];
        ratio.measured = Some(Measured {
            ratio: bootstrap.estimate.exp(),
            interval,
        });
        ratio.finding = if corrected.is_some() {
            Finding::Verdict(judge(interval, ratio.metric.direction()))
        } else {
            let needed = ratio.metric.min_blocks();
            Finding::Withheld(format!(
                "{} of the {needed} blocks that a verdict needs",
                ratio.blocks
            ))
        };
    }
}

fn measure(
    results: &Results,
    profile: &Profile,
    scenario: &Scenario,
    comparison: &Comparison,
    metric: Metric,
) -> (Ratio, Option<Bootstrap>) {
    let pairs = Pairs::of(results, &profile.name, &scenario.name, comparison, metric);
    let refusal = refusal(results, comparison);
    let name = format!(
        "{}/{}/{}/{}/{}",
        profile.name,
        scenario.name,
        comparison.target,
        comparison.baseline,
        metric.slug()
    );
    let bootstrap = match &refusal {
        Some(_) => None,
        None => pairs.bootstrap(seed_for(results.plan.seed, &name)),
    };
    let mut labels = Label::of(results, profile, &scenario.name, comparison, metric);
    labels.extend(pairs.bytes_per_answer().and_then(Label::of_size));
    let ratio = Ratio {
        profile: profile.name.clone(),
        scenario: scenario.name.clone(),
        target: comparison.target.clone(),
        baseline: comparison.baseline.clone(),
        metric,
        blocks: pairs.blocks(),
        measured: None,
        finding: Finding::Withheld(
            refusal.unwrap_or_else(|| "fewer than two blocks measured both".into()),
        ),
        labels,
    };
    (ratio, bootstrap)
}

/// Why no ratio may be published at all.
fn refusal(results: &Results, comparison: &Comparison) -> Option<String> {
    if results.plan.mode == Mode::Quick {
        return Some("a quick run publishes no ratio".into());
    }
    for name in [&comparison.target, &comparison.baseline] {
        let Some(target) = results.target(name) else {
            return Some(format!("{name} is not in this run"));
        };
        if let Some(missing) = &target.missing {
            return Some(format!("{name} did not run: {missing}"));
        }
        if !target.managed {
            return Some(format!(
                "{name} was not started by the lab, under no limits"
            ));
        }
        // One that is not held to the contract is held to its scenarios' own checks, or its trials failed.
        if !target.contract {
            continue;
        }
        let Some(check) = results.contract.iter().find(|check| &check.target == name) else {
            return Some(format!(
                "{name} was not checked against the contract in this run"
            ));
        };
        let failed = check
            .cases
            .iter()
            .filter(|case| matches!(case.outcome, CaseOutcome::Fail { .. }));
        match failed.count() {
            0 => {}
            n => {
                return Some(format!(
                    "{name} failed {n} of {} contract cases",
                    check.cases.len()
                ));
            }
        }
    }
    None
}
