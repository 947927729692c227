//! What will be measured, in which order, and how long that takes: fixed before the first trial.

use std::collections::BTreeSet;

use anyhow::Context;

use super::{Contestant, Generators, Subject};
use crate::config::{self, Config};
use crate::gates;
use crate::generators::{Shape, Until};
use crate::results::{self, Mode, ProfileKind};
use crate::stats::random::{SplitMix64, seed_for};

/// Starting, probing and stopping a server, and the generator's own start.
const OVERHEAD_SECONDS: f64 = 0.9;
const COLD_START_SECONDS: f64 = 0.5;
/// A target that answers every case, in every state of the store.
const CONTRACT_SECONDS: f64 = 8.0;
const CALIBRATION_SECONDS: f64 = 2.0;

/// The default mode ends within half an hour, with a margin for trials that are repeated.
const DEFAULT_BUDGET_SECONDS: f64 = 28.0 * 60.0;
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

/// A profile as this run carries it out.
pub struct Planned<'a> {
    pub profile: &'a config::Profile,
    pub scenarios: Vec<PlannedScenario<'a>>,
    pub contestants: Vec<Contestant<'a>>,
    pub blocks: u32,
    pub seconds: f64,
    pub warm_up_seconds: f64,
}

#[derive(Clone)]
pub struct PlannedScenario<'a> {
    pub scenario: &'a config::Scenario,
    pub body: Option<Vec<u8>>,
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
        for profile in chosen {
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
        if mode == Mode::Default && schedule.options.seconds.is_none() {
            schedule.fit(DEFAULT_BUDGET_SECONDS);
        }
        Ok(schedule)
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
        }
    }
}

impl<'a> Planned<'a> {
    fn make(
        config: &'a Config,
        contestants: &[Contestant<'a>],
        profile: &'a config::Profile,
        options: &Options,
    ) -> anyhow::Result<Self> {
        let mode = options.mode;
        let wanted =
            |list: &[String], name: &str| list.is_empty() || list.iter().any(|one| one == name);
        let mut scenarios = Vec::new();
        for name in profile.scenarios.get(mode).into_iter().flatten() {
            if !wanted(&options.scenarios, name) {
                continue;
            }
            let scenario = config
                .scenario(name)
                .context("a scenario that does not exist")?;
            let body = scenario
                .expected_body(&config.dir)
                .with_context(|| format!("cannot read the body of scenario {name:?}"))?;
            scenarios.push(PlannedScenario { scenario, body });
        }
        let of_profile = profile.targets.get(mode).map_or(&[][..], Vec::as_slice);
        let contestants = contestants
            .iter()
            .filter(|contestant| match &contestant.subject {
                // What we did not start cannot be started cold.
                Subject::Unmanaged(_) => profile.kind != ProfileKind::ColdStart,
                Subject::Managed(_) => match options.targets.is_empty() {
                    true => wanted(of_profile, &contestant.name),
                    false => wanted(&options.targets, &contestant.name),
                },
            })
            .cloned()
            .collect();
        let seconds = profile.seconds.get(mode).copied().unwrap_or(0.0);
        Ok(Self {
            profile,
            scenarios,
            contestants,
            blocks: options
                .blocks
                .or(profile.blocks.get(mode).copied())
                .unwrap_or(1),
            seconds: options.seconds.unwrap_or(seconds),
            warm_up_seconds: profile.warm_up_seconds.get(mode).copied().unwrap_or(0.0),
        })
    }

    /// Who takes part, in the shuffled order of this block: the same for the same seed, whatever else is run.
    pub fn order(&self, seed: u64, scenario: &str, block: u32) -> Vec<&Contestant<'a>> {
        let part = format!("{}/{scenario}/{block}", self.profile.name);
        let mut random = SplitMix64::new(seed_for(seed, &part));
        let mut order: Vec<_> = self
            .contestants
            .iter()
            .filter(|contestant| contestant.takes_part_in(scenario))
            .collect();
        for last in (1..order.len()).rev() {
            order.swap(last, random.below(last + 1));
        }
        order
    }

    fn is_open_loop(&self) -> bool {
        matches!(
            self.profile.kind,
            ProfileKind::OriginalK6 | ProfileKind::FixedRate | ProfileKind::Soak
        )
    }

    pub fn rate(&self, scenario: &str) -> f64 {
        self.profile.rates.get(scenario).copied().unwrap_or(0.0)
    }

    /// The loads of one trial: one, or a rung of the ladder each.
    pub fn shapes(&self, scenario: &str) -> Vec<Shape> {
        let profile = self.profile;
        match profile.kind {
            ProfileKind::OriginalK6 | ProfileKind::FixedRate | ProfileKind::Soak => {
                vec![Shape::Open {
                    rate: self.rate(scenario),
                    vus: profile.vus,
                    seconds: self.seconds,
                }]
            }
            ProfileKind::OriginalClosed => vec![Shape::Closed {
                connections: profile.connections,
                until: Until::Requests(profile.requests.get(scenario).copied().unwrap_or(0)),
            }],
            ProfileKind::Capacity => profile
                .ladder
                .iter()
                .map(|&connections| Shape::Closed {
                    connections,
                    until: Until::Seconds(self.seconds),
                })
                .collect(),
            ProfileKind::ColdStart => Vec::new(),
        }
    }

    /// Of one trial, as far as it can be told beforehand.
    pub fn trial_seconds(&self, scenario: &str) -> f64 {
        if self.profile.kind == ProfileKind::ColdStart {
            return f64::from(self.profile.spawns) * COLD_START_SECONDS;
        }
        let load: f64 = self
            .shapes(scenario)
            .iter()
            .map(|shape| match shape {
                Shape::Open { seconds, .. } => *seconds,
                Shape::Closed {
                    until: Until::Seconds(seconds),
                    ..
                } => seconds + 0.2,
                // Nobody knows yet; a slow server answers this many a second.
                Shape::Closed {
                    until: Until::Requests(requests),
                    ..
                } => *requests as f64 / 5_000.0,
            })
            .sum();
        load + self.warm_up_seconds + OVERHEAD_SECONDS
    }

    fn participants(&self, scenario: &str) -> usize {
        self.contestants
            .iter()
            .filter(|contestant| contestant.takes_part_in(scenario))
            .count()
    }

    pub fn trials(&self) -> u64 {
        let each = self
            .scenarios
            .iter()
            .map(|one| self.participants(&one.scenario.name) as u64);
        u64::from(self.blocks) * each.sum::<u64>()
    }

    pub fn total_seconds(&self) -> f64 {
        let calibration = match self.profile.kind {
            ProfileKind::ColdStart => 0.0,
            _ => CALIBRATION_SECONDS,
        };
        self.scenarios
            .iter()
            .map(|one| {
                let name = &one.scenario.name;
                calibration
                    + f64::from(self.blocks)
                        * self.participants(name) as f64
                        * self.trial_seconds(name)
            })
            .sum()
    }

    fn recorded(&self, generators: &Generators) -> results::Profile {
        let profile = self.profile;
        let (generator, connections) = match profile.kind {
            ProfileKind::ColdStart => ("levelfield", None),
            ProfileKind::OriginalClosed => (generators.closed().name(), Some(profile.connections)),
            ProfileKind::Capacity => (generators.closed().name(), None),
            ProfileKind::Soak => (generators.own().name(), Some(profile.vus)),
            _ => (generators.open().name(), Some(profile.vus)),
        };
        let timed = !matches!(
            profile.kind,
            ProfileKind::ColdStart | ProfileKind::OriginalClosed
        );
        results::Profile {
            name: profile.name.clone(),
            kind: profile.kind,
            generator: generator.to_owned(),
            keep_alive: profile.kind != ProfileKind::ColdStart,
            blocks: self.blocks,
            scenarios: self
                .scenarios
                .iter()
                .map(|one| self.recorded_scenario(one))
                .collect(),
            targets: self
                .contestants
                .iter()
                .map(|one| one.name.clone())
                .collect(),
            seconds: timed.then_some(self.seconds),
            warm_up: (self.warm_up_seconds > 0.0).then(|| {
                format!(
                    "{} s of a closed loop of {} connections",
                    self.warm_up_seconds,
                    super::trial::WARM_UP_CONNECTIONS
                )
            }),
            connections,
            cpu_mode: profile.cpu_mode,
            scaled: self.scaled(),
        }
    }

    fn recorded_scenario(&self, planned: &PlannedScenario<'_>) -> results::Scenario {
        let name = &planned.scenario.name;
        results::Scenario {
            name: name.clone(),
            request: format!("GET {}", planned.scenario.path),
            rate: self.profile.rates.get(name).copied(),
            requests: self.profile.requests.get(name).copied(),
            slo_p99_ms: self.profile.slo_p99_ms,
        }
    }

    fn scaled(&self) -> Option<String> {
        let parts: Vec<String> = self
            .scenarios
            .iter()
            .filter_map(|one| {
                let name = &one.scenario.name;
                let (now, original) = (
                    self.profile.requests.get(name)?,
                    self.profile.original_requests.get(name)?,
                );
                (now != original).then(|| format!("{now} of {original} requests on {name}"))
            })
            .collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}
