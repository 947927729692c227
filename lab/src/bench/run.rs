//! Carrying out the plan: services, contract checks, calibrations, blocks; the result is on disk after every trial.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Instant;

use super::calibrate::calibrate;
use super::trial::{Bench, Interrupted, Task};
use super::{Contestant, Display, Planned, PlannedScenario, Schedule, Subject};
use crate::check::{self, StoreState, Suite};
use crate::config::Target;
use crate::matrix::{self, RowOutcome};
use crate::results::{CaseOutcome, ContractCheck, Outcome, Results, Trial};

/// The year of the golden pages: what the home page's scenario expects.
const YEAR: u16 = contract::GOLDEN_YEAR;

/// Why a run ended before its plan did.
enum Stop {
    Interrupted,
    Failed(anyhow::Error),
}

impl From<Interrupted> for Stop {
    fn from(_: Interrupted) -> Self {
        Self::Interrupted
    }
}

/// Runs the plan and writes into `dir` as it goes. What was measured is in `results` however it ends.
pub fn run(
    bench: &mut Bench<'_>,
    schedule: &Schedule<'_>,
    results: &mut Results,
    dir: &Path,
    display: &mut Display,
) -> anyhow::Result<()> {
    let mut running = Running {
        bench,
        schedule,
        results,
        dir,
        display,
        began: Instant::now(),
        seconds_left: schedule.profiles.iter().map(Planned::total_seconds).sum(),
        refused: BTreeSet::new(),
    };
    let ended = running.carry_out();
    running.display.finish();
    running.results.finished = Some(now());
    let (stopped, outcome) = match ended {
        Ok(()) => (None, Ok(())),
        Err(Stop::Interrupted) => (Some("interrupted".to_owned()), Ok(())),
        Err(Stop::Failed(error)) => (Some(format!("{error:#}")), Err(error)),
    };
    results.stopped_early = stopped;
    results.write(dir)?;
    outcome
}

struct Running<'a, 'b, 's> {
    bench: &'a mut Bench<'b>,
    schedule: &'a Schedule<'s>,
    results: &'a mut Results,
    dir: &'a Path,
    display: &'a mut Display,
    began: Instant,
    /// Of the plan, for what was not begun yet.
    seconds_left: f64,
    /// Targets that answered a case wrongly: they are not measured.
    refused: BTreeSet<String>,
}

impl Running<'_, '_, '_> {
    fn carry_out(&mut self) -> Result<(), Stop> {
        self.start_shared_services()?;
        self.check_contract()?;
        let schedule = self.schedule;
        for planned in &schedule.profiles {
            for scenario in &planned.scenarios {
                self.calibrate(planned, scenario)?;
                for block in 0..planned.blocks {
                    let name = &scenario.scenario.name;
                    for contestant in planned.order(schedule.options.seed, name, block) {
                        let task = Task {
                            planned,
                            scenario,
                            contestant,
                            block,
                        };
                        self.place(task)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Those that no target has for itself, once for the whole run. One that this machine lacks keeps only those
    /// from running that need it.
    fn start_shared_services(&mut self) -> Result<(), Stop> {
        let config = self.bench.config;
        let mut shared: Vec<&str> = Vec::new();
        for contestant in self.schedule.contestants() {
            if let Subject::Managed(target) = &contestant.subject {
                shared.extend(config.services_of(target));
            }
        }
        shared.retain(|name| !config.services[*name].with_target);
        match self.bench.services.start(config, &shared, None) {
            Ok(()) => Ok(()),
            Err(testbed::Error::Missing(missing)) => {
                self.display.say(&missing.to_string());
                Ok(())
            }
            Err(error) => {
                let what = anyhow::Error::from(error).context("a service that the targets need");
                Err(Stop::Failed(what))
            }
        }
    }

    /// A target whose answers differ is not compared with those whose answers are right.
    fn check_contract(&mut self) -> Result<(), Stop> {
        for contestant in self.schedule.contestants() {
            let Subject::Managed(target) = &contestant.subject else {
                continue;
            };
            if !target.contract {
                continue;
            }
            if self.bench.interrupt.is_set() {
                return Err(Stop::Interrupted);
            }
            match self.answers_of(contestant, target)? {
                RowOutcome::Checked(check) => self.admit(contestant, check),
                RowOutcome::Lacks(lack) => self.refuse(&contestant.name, lack.to_string()),
                RowOutcome::Broken(why) => {
                    let why = format!("it does not start: {}", first_line(&why));
                    self.refuse(&contestant.name, why);
                }
            }
            self.save()?;
        }
        Ok(())
    }

    /// A twin's are those of its other name, which was asked before it.
    fn answers_of(
        &mut self,
        contestant: &Contestant<'_>,
        target: &Target,
    ) -> Result<RowOutcome, Stop> {
        let asked = contestant.twin_of.as_ref().and_then(|of| {
            self.results
                .contract
                .iter()
                .find(|check| check.target == *of)
        });
        if let Some(check) = asked {
            return Ok(RowOutcome::Checked(check.clone()));
        }
        let suite = Suite {
            year: YEAR,
            store: StoreState::Up,
            only_about_store: false,
            seed: self.schedule.options.seed,
            interrupt: &self.bench.interrupt,
        };
        let services = &mut self.bench.services;
        matrix::check_target(self.bench.config, target, services, &suite)
            .map(|row| row.outcome)
            .map_err(|check::Interrupted| Stop::Interrupted)
    }

    fn admit(&mut self, contestant: &Contestant<'_>, mut check: ContractCheck) {
        check.target.clone_from(&contestant.name);
        let wrong = check
            .cases
            .iter()
            .filter(|case| matches!(case.outcome, CaseOutcome::Fail { .. }))
            .count();
        let (name, cases) = (&contestant.name, check.cases.len());
        self.display.say(&match wrong {
            0 => format!("contract: {name} answers all {cases} cases"),
            _ => format!(
                "contract: {name} answers {wrong} of {cases} cases wrongly and is not measured"
            ),
        });
        if wrong > 0 {
            self.refused.insert(name.clone());
        }
        self.results.contract.push(check);
    }

    fn refuse(&mut self, name: &str, why: String) {
        self.display.say(&format!("{name}: {why}"));
        self.refused.insert(name.to_owned());
        if let Some(target) = self
            .results
            .targets
            .iter_mut()
            .find(|target| target.name == name)
        {
            target.missing = Some(why);
        }
    }

    fn calibrate(
        &mut self,
        planned: &Planned<'_>,
        scenario: &PlannedScenario<'_>,
    ) -> Result<(), Stop> {
        match calibrate(self.bench, planned, scenario) {
            Ok(calibration) => self.results.calibrations.extend(calibration),
            Err(_) if self.bench.interrupt.is_set() => return Err(Stop::Interrupted),
            Err(error) => {
                let what = anyhow::Error::from(error).context("the generator cannot be calibrated");
                return Err(Stop::Failed(what));
            }
        }
        self.save()
    }

    /// Fills one place of the plan: a void trial is repeated, a failed one is not.
    fn place(&mut self, task: Task<'_>) -> Result<(), Stop> {
        let estimate = task.planned.trial_seconds(&task.scenario.scenario.name);
        self.seconds_left -= estimate;
        if self.refused.contains(&task.contestant.name) {
            return Ok(());
        }
        let max_repeats = self.results.plan.max_repeats;
        let Task { block, .. } = task;
        for attempt in 0..=max_repeats {
            self.display.begin(&task, block, attempt);
            let started_seconds = self.began.elapsed().as_secs_f64();
            let measured = self.bench.measure(task)?;
            let trial = Trial {
                sequence: u32::try_from(self.results.trials.len()).unwrap_or(u32::MAX),
                profile: task.planned.profile.name.clone(),
                scenario: task.scenario.scenario.name.clone(),
                target: task.contestant.name.clone(),
                block,
                attempt,
                started_seconds,
                seconds: self.began.elapsed().as_secs_f64() - started_seconds,
                outcome: measured.outcome,
                figures: measured.figures,
                gates: measured.gates,
            };
            let again = matches!(trial.outcome, Outcome::Void { .. })
                && attempt < max_repeats
                && self.has_time_for(estimate);
            self.display.end(&trial, !again);
            self.results.trials.push(trial);
            self.save()?;
            if !again {
                break;
            }
        }
        Ok(())
    }

    fn has_time_for(&self, seconds: f64) -> bool {
        let elapsed = self.began.elapsed().as_secs_f64();
        is_within(
            self.results.plan.budget_seconds,
            elapsed + self.seconds_left + seconds,
        )
    }

    fn save(&self) -> Result<(), Stop> {
        self.results
            .write(self.dir)
            .map_err(|error| Stop::Failed(error.into()))
    }
}

/// A run that promises when it ends repeats nothing at the cost of what is still to come.
fn is_within(budget: Option<f64>, seconds: f64) -> bool {
    budget.is_none_or(|budget| seconds <= budget)
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// RFC 3339, UTC, to the second.
pub fn now() -> String {
    let seconds = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |since| since.as_secs());
    crate::machine::rfc3339(seconds)
}

#[cfg(test)]
mod tests {
    use super::is_within;

    #[test]
    fn only_a_run_that_promises_its_end_has_no_time_for_more() {
        assert!(is_within(Some(1770.0), 1769.0));
        assert!(!is_within(Some(1770.0), 1771.0));
        assert!(is_within(None, 1e9));
    }
}
