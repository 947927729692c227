//! The badge: whether this run's verdicts deserve belief, as its own controls tell.

use super::{Finding, Ratio};
use crate::results::{CaseOutcome, GateEffect, Mode, Outcome, Results};

#[derive(Clone, Debug)]
pub struct Trust {
    pub control: Control,
    pub contract_passed: usize,
    pub contract_cases: usize,
    /// Targets that were measured and are held to the contract.
    pub held_to_contract: usize,
    pub trials: usize,
    pub void: usize,
    pub failed: usize,
    /// Counted trials that carry a gate's label.
    pub labelled: usize,
    /// The busiest generator of a counted trial, share of one core.
    pub generator_cpu: Option<f64>,
}

/// What the A/A control said.
#[derive(Clone, Debug, PartialEq)]
pub enum Control {
    /// Every corrected interval of the twin holds 1.
    Agrees { intervals: usize },
    /// Some exclude 1: the run finds differences where there are none, and none of its verdicts can be trusted.
    Disagrees { metrics: Vec<String> },
    /// Too little was measured to tell, or there was no twin.
    Silent { why: String },
}

impl Trust {
    pub fn of(results: &Results, control: &[Ratio]) -> Trust {
        let cases = || results.contract.iter().flat_map(|check| &check.cases);
        let counted = || {
            results
                .trials
                .iter()
                .filter(|trial| trial.outcome == Outcome::Counted)
        };
        let labels = |trial: &&crate::results::Trial| {
            trial
                .gates
                .iter()
                .any(|finding| finding.effect == GateEffect::Label)
        };
        let outcomes = |matches: fn(&Outcome) -> bool| {
            results
                .trials
                .iter()
                .filter(|trial| matches(&trial.outcome))
                .count()
        };
        Trust {
            control: Control::of(results, control),
            contract_passed: cases()
                .filter(|case| case.outcome == CaseOutcome::Pass)
                .count(),
            contract_cases: cases()
                .filter(|case| !matches!(case.outcome, CaseOutcome::NotRun { .. }))
                .count(),
            held_to_contract: results
                .targets
                .iter()
                .filter(|target| target.contract && target.managed)
                .filter(|target| {
                    results
                        .trials
                        .iter()
                        .any(|trial| trial.target == target.name)
                })
                .count(),
            trials: results.trials.len(),
            void: outcomes(|outcome| matches!(outcome, Outcome::Void { .. })),
            failed: outcomes(|outcome| matches!(outcome, Outcome::Failed { .. })),
            labelled: counted().filter(labels).count(),
            generator_cpu: counted()
                .filter_map(|trial| trial.figures.as_ref()?.generator_cpu)
                .reduce(f64::max),
        }
    }

    pub fn is_trustworthy(&self) -> bool {
        matches!(self.control, Control::Agrees { .. })
            && self.contract_passed == self.contract_cases
            && (self.contract_cases > 0 || self.held_to_contract == 0)
    }
}

impl Control {
    fn of(results: &Results, control: &[Ratio]) -> Control {
        if results.plan.mode == Mode::Quick {
            return Control::Silent {
                why: "a quick run judges nothing".into(),
            };
        }
        let judged: Vec<(&Ratio, bool)> = control
            .iter()
            .filter(|ratio| matches!(ratio.finding, Finding::Verdict(_)))
            .filter_map(|ratio| Some((ratio, ratio.measured?.interval.contains(1.0))))
            .collect();
        let disagreeing: Vec<String> = judged
            .iter()
            .filter(|(_, holds_one)| !holds_one)
            .map(|(ratio, _)| {
                format!(
                    "{} of {} ({})",
                    ratio.metric.title(),
                    ratio.scenario,
                    ratio.profile
                )
            })
            .collect();
        match (judged.len(), control.first()) {
            (_, _) if !disagreeing.is_empty() => Control::Disagrees {
                metrics: disagreeing,
            },
            (0, None) => Control::Silent {
                why: "no target was listed twice".into(),
            },
            (
                0,
                Some(Ratio {
                    finding: Finding::Withheld(why),
                    ..
                }),
            ) => Control::Silent { why: why.clone() },
            (intervals, _) => Control::Agrees { intervals },
        }
    }
}
