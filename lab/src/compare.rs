//! Two runs against each other: what became slower, and whether that can be said at all.
//!
//! Trials of different runs share no block, so drift between the runs is not common to both sides; a regression is
//! therefore claimed only where the whole interval lies beyond the equivalence band.

mod identity;

pub use identity::Difference;

use crate::analysis::{Analysis, Control, Finding, Ratio, correct, counted};
use crate::metric::Metric;
use crate::results::{Mode, Results};
use crate::stats::interval::Bootstrap;
use crate::stats::random::seed_for;
use crate::stats::verdict::{Direction, EQUIVALENCE};

pub struct Change {
    /// New over old; target and baseline are the same target in the two runs.
    pub ratio: Ratio,
    pub old: f64,
    pub new: f64,
}

/// Why two runs are not compared.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum Refusal {
    #[error("the {0} run is a quick one, which proves the plumbing and publishes no ratio")]
    Quick(&'static str),
    #[error("the {0} run is not trustworthy: its A/A control disagrees on {1}")]
    NotTrustworthy(&'static str, String),
    #[error("the runs are unlike in {}", keys(.0))]
    Unlike(Vec<Difference>),
    #[error("the runs have no target, profile and scenario in common")]
    NothingInCommon,
}

fn keys(differences: &[Difference]) -> String {
    differences
        .iter()
        .map(|difference| difference.key.as_str())
        .collect::<Vec<_>>()
        .join(", ")
}

/// Why these runs should not be compared; `--force` overrules all but [`Refusal::NothingInCommon`].
pub fn refusals(old: &Results, new: &Results) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    for (name, results) in [("old", old), ("new", new)] {
        if results.plan.mode == Mode::Quick {
            refusals.push(Refusal::Quick(name));
        }
        if let Control::Disagrees { metrics } = Analysis::of(results).trust.control {
            refusals.push(Refusal::NotTrustworthy(name, metrics.join(", ")));
        }
    }
    let differences = identity::differences(old, new);
    if !differences.is_empty() {
        refusals.push(Refusal::Unlike(differences));
    }
    refusals
}

/// Every target, load and metric that both runs measured.
pub fn changes(old: &Results, new: &Results) -> Result<Vec<Change>, Refusal> {
    let mut ratios = Vec::new();
    let mut bootstraps = Vec::new();
    let mut medians = Vec::new();
    for profile in &new.plan.profiles {
        for scenario in &profile.scenarios {
            for target in &profile.targets {
                for &metric in Metric::judged(profile.kind) {
                    let values = |results| -> Vec<f64> {
                        counted(results, &profile.name, &scenario.name, &[target])
                            .into_iter()
                            .filter_map(|trial| metric.of(trial))
                            .collect()
                    };
                    let (before, after) = (values(old), values(new));
                    let median = crate::stats::quantile::median;
                    let (Some(was), Some(is)) = (median(&before), median(&after)) else {
                        continue;
                    };
                    let log = |values: &[f64]| values.iter().map(|v| v.ln()).collect::<Vec<f64>>();
                    let name = format!(
                        "{}/{}/{target}/{}",
                        profile.name,
                        scenario.name,
                        metric.slug()
                    );
                    let seed = seed_for(new.plan.seed, &name);
                    bootstraps.push(Bootstrap::of_difference(&log(&after), &log(&before), seed));
                    medians.push((was, is));
                    ratios.push(Ratio {
                        profile: profile.name.clone(),
                        scenario: scenario.name.clone(),
                        target: target.clone(),
                        baseline: target.clone(),
                        metric,
                        blocks: before.len().min(after.len()),
                        measured: None,
                        finding: Finding::Withheld("one trial is too few".into()),
                        labels: vec![],
                    });
                }
            }
        }
    }
    if ratios.is_empty() {
        return Err(Refusal::NothingInCommon);
    }
    correct(&mut ratios, &bootstraps);
    Ok(ratios
        .into_iter()
        .zip(medians)
        .map(|(ratio, (old, new))| Change { ratio, old, new })
        .collect())
}

impl Change {
    /// Judged, and worse by more than the band with its whole interval.
    pub fn is_regression(&self) -> bool {
        let Finding::Verdict(_) = self.ratio.finding else {
            return false;
        };
        let Some(measured) = self.ratio.measured else {
            return false;
        };
        match self.ratio.metric.direction() {
            Direction::LowerIsBetter => measured.interval.low > EQUIVALENCE.1,
            Direction::HigherIsBetter => measured.interval.high < EQUIVALENCE.0,
        }
    }
}
