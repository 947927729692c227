//! One profile as a run carries it out: on what, by whom, in which order, and for how long.

use anyhow::Context;

use super::{Contestant, Generators, Options, Subject};
use crate::config::{self, Config};
use crate::generators::{Ask, Shape, Until};
use crate::results::{self, ProfileKind};
use crate::stats::random::{SplitMix64, seed_for};

/// Starting, probing and stopping a server, and the generator's own start.
const OVERHEAD_SECONDS: f64 = 0.9;
const COLD_START_SECONDS: f64 = 0.5;
const CALIBRATION_SECONDS: f64 = 2.0;

/// A profile as this run carries it out.
pub struct Planned<'a> {
    pub profile: &'a config::Profile,
    pub scenarios: Vec<PlannedScenario<'a>>,
    pub contestants: Vec<Contestant<'a>>,
    pub blocks: u32,
    pub seconds: f64,
    /// A warm-up lasts at least so long,
    pub warm_up_seconds: f64,
    /// and at most so long.
    pub warm_up_at_most: f64,
}

#[derive(Clone)]
pub struct PlannedScenario<'a> {
    pub scenario: &'a config::Scenario,
    /// At least one.
    pub asks: Vec<Ask>,
}

impl<'a> Planned<'a> {
    pub fn make(
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
            let asks = scenario
                .asks(&config.dir)
                .with_context(|| format!("cannot read the body of scenario {name:?}"))?;
            scenarios.push(PlannedScenario { scenario, asks });
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
        let warm_up_seconds = profile.warm_up_seconds.get(mode).copied().unwrap_or(0.0);
        Ok(Self {
            profile,
            scenarios,
            contestants,
            blocks: options
                .blocks
                .or(profile.blocks.get(mode).copied())
                .unwrap_or(1),
            seconds: options.seconds.unwrap_or(seconds),
            warm_up_seconds,
            warm_up_at_most: profile
                .warm_up_at_most
                .get(mode)
                .copied()
                .unwrap_or(warm_up_seconds),
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

    pub fn is_open_loop(&self) -> bool {
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
        // Most servers are steady soon.
        let warm_up = 0.5 * (self.warm_up_seconds + self.warm_up_at_most);
        load + warm_up + OVERHEAD_SECONDS
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

    pub fn recorded(&self, generators: &Generators) -> results::Profile {
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
            warm_up: self.recorded_warm_up(),
            connections,
            page_cache_dropped: profile.drop_page_cache,
            cpu_mode: profile.cpu_mode,
            scaled: self.scaled(),
        }
    }

    fn recorded_warm_up(&self) -> Option<String> {
        let (least, most) = (self.warm_up_seconds, self.warm_up_at_most);
        let length = match most > least {
            true => format!("until steady within {least} to {most} s"),
            false => format!("{least} s"),
        };
        let connections = super::warm_up::CONNECTIONS;
        (least > 0.0).then(|| format!("{length}, closed loop of {connections} connections"))
    }

    fn recorded_scenario(&self, planned: &PlannedScenario<'_>) -> results::Scenario {
        let name = &planned.scenario.name;
        results::Scenario {
            name: name.clone(),
            request: format!("GET {}", planned.scenario.path),
            variants: planned.asks[1..]
                .iter()
                .map(|ask| format!("GET {}", ask.path))
                .collect(),
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
