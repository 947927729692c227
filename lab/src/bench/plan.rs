//! What will be measured, in which order, and how long that takes: fixed before the first trial.

use std::collections::BTreeSet;

use anyhow::Context;

use super::{Contestant, Generators, Planned, Subject, cold_start};
use crate::config::{self, Config};
use crate::gates;
use crate::results::{self, Mode};

/// A target that answers every case, in every state of the store.
const CONTRACT_SECONDS: f64 = 8.0;

/// The default mode ends within half an hour; what is planned leaves a margin for trials that are repeated.
const DEFAULT_BUDGET_SECONDS: f64 = 29.5 * 60.0;
const DEFAULT_PLAN_SECONDS: f64 = 27.0 * 60.0;
/// No trial is shortened below this: its p99 would have nothing to stand on.
const SHORTEST_SECONDS: f64 = 2.0;

/// What a person chose on the command line.
#[derive(Clone, Debug)]
pub struct Options {
    pub mode: Mode,
    pub seed: u64,
    /// Only these; empty means all that the mode has.
    pub profiles: Vec<String>,
    pub targets: Vec<String>,
    pub scenarios: Vec<String>,
    pub blocks: Option<u32>,
    pub seconds: Option<f64>,
    /// The command line that repeats the run.
    pub command: String,
}

pub struct Schedule<'a> {
    pub options: Options,
    pub profiles: Vec<Planned<'a>>,
}

impl<'a> Schedule<'a> {
    /// Plans for those of `contestants` that can run here.
    pub fn make(
        config: &'a Config,
        contestants: &[Contestant<'a>],
        options: Options,
    ) -> anyhow::Result<Self> {
        for name in &options.profiles {
            let known = config.profiles.iter().any(|profile| profile.name == *name);
            anyhow::ensure!(known, "there is no profile {name:?} in bench.toml");
        }
        for name in &options.scenarios {
            anyhow::ensure!(
                config.scenario(name).is_some(),
                "there is no scenario {name:?} in bench.toml"
            );
        }
        for name in &options.targets {
            let known = contestants
                .iter()
                .any(|contestant| contestant.name == *name);
            anyhow::ensure!(known, "there is no target {name:?}; see `levelfield list`");
        }
        let mode = options.mode;
        let chosen = config
            .profiles
            .iter()
            .filter(|profile| match options.profiles.as_slice() {
                [] => profile.modes.contains(&mode),
                named => named.contains(&profile.name),
            });
        let mut profiles = Vec::new();
        // The report's cautions say that these are left out.
        let possible = |profile: &&config::Profile| {
            !profile.drop_page_cache || cold_start::may_drop_page_cache()
        };
        for profile in chosen.filter(possible) {
            let planned = Planned::make(config, contestants, profile, &options)
                .with_context(|| format!("profile {:?}", profile.name))?;
            if !planned.contestants.is_empty() && !planned.scenarios.is_empty() {
                profiles.push(planned);
            }
        }
        anyhow::ensure!(
            !profiles.is_empty(),
            "nothing can be measured: no target of the chosen profiles can run here; see `levelfield list`"
        );
        let mut schedule = Self { options, profiles };
        if schedule.is_fitted() {
            schedule.fit(DEFAULT_PLAN_SECONDS);
        }
        Ok(schedule)
    }

    /// Only the default mode, as it stands in bench.toml, promises when it ends.
    fn is_fitted(&self) -> bool {
        let options = &self.options;
        options.mode == Mode::Default && options.seconds.is_none() && options.blocks.is_none()
    }

    /// Shortens open loops evenly until the whole fits; many targets would otherwise take hours.
    fn fit(&mut self, budget: f64) {
        let excess = self.seconds() - budget;
        let open = |planned: &Planned<'_>| planned.is_open_loop();
        let trials: u64 = self
            .profiles
            .iter()
            .filter(|one| open(one))
            .map(Planned::trials)
            .sum();
        if excess <= 0.0 || trials == 0 {
            return;
        }
        for planned in self.profiles.iter_mut().filter(|one| open(one)) {
            let shorter = planned.seconds - excess / trials as f64;
            planned.seconds = shorter.clamp(SHORTEST_SECONDS.min(planned.seconds), planned.seconds);
        }
    }

    /// Who takes part anywhere, once each, in the order of bench.toml.
    pub fn contestants(&self) -> Vec<&Contestant<'a>> {
        let mut seen = BTreeSet::new();
        self.profiles
            .iter()
            .flat_map(|planned| &planned.contestants)
            .filter(|contestant| seen.insert(contestant.name.as_str()))
            .collect()
    }

    /// Whether some target needs a service that it shares with others.
    pub fn uses_shared_services(&self, config: &Config) -> bool {
        self.contestants()
            .into_iter()
            .any(|contestant| match &contestant.subject {
                Subject::Managed(target) => config
                    .services_of(target)
                    .into_iter()
                    .any(|name| !config.services[name].with_target),
                Subject::Unmanaged(_) => false,
            })
    }

    pub fn seconds(&self) -> f64 {
        let checked = self
            .contestants()
            .into_iter()
            .filter(|one| one.is_checked())
            .count();
        let trials: f64 = self.profiles.iter().map(Planned::total_seconds).sum();
        checked as f64 * CONTRACT_SECONDS + trials
    }

    pub fn trials(&self) -> u64 {
        self.profiles.iter().map(Planned::trials).sum()
    }

    pub fn recorded(&self, config: &Config, generators: &Generators) -> results::Plan {
        results::Plan {
            mode: self.options.mode,
            seed: self.options.seed,
            command: self.options.command.clone(),
            bench_toml_sha256: config.sha256.clone(),
            profiles: self
                .profiles
                .iter()
                .map(|planned| planned.recorded(generators))
                .collect(),
            comparisons: config
                .comparisons
                .iter()
                .map(|comparison| results::Comparison {
                    target: comparison.target.clone(),
                    baseline: comparison.baseline.clone(),
                })
                .collect(),
            exclusion_rules: gates::exclusion_rules(),
            max_repeats: match self.options.mode {
                // It proves the plumbing, and must not take long on a busy machine.
                Mode::Quick => 0,
                _ => config.limits.max_repeats,
            },
            budget_seconds: self.is_fitted().then_some(DEFAULT_BUDGET_SECONDS),
        }
    }
}
