//! One trial: a fresh process inside its limits, warmed up, loaded, read, judged by the gates, and stopped.

use std::time::Duration;

use super::answers::{Canary, right_answers};
use super::warm_up::warm_up;
use super::{Contestant, Cores, Generators, Planned, PlannedScenario, Subject, cold_start, ladder};
use crate::config::{Config, Target};
use crate::gates;
use crate::generators::{Ask, GeneratorError, Load, Loaded, Shape};
use crate::http::Origin;
use crate::interrupt::Interrupt;
use crate::limits::{Backend, Confinement, Cpu, Spec, Usage};
use crate::noise::{Noise, Reading};
use crate::results::{
    CpuMode, Figures, Gate, GateEffect, GateFinding, Outcome, ProfileKind, ServerUse,
};
use crate::server::{Probe, Server};
use crate::services::Services;
use crate::stats::random::seed_for;
use crate::usage::{self, MemorySampler};

const START_WITHIN: Duration = Duration::from_secs(30);

/// What trials share.
pub struct Bench<'a> {
    pub config: &'a Config,
    pub cores: Cores,
    pub backend: Box<dyn Backend>,
    pub generators: Generators,
    /// Those of the whole run.
    pub services: Services,
    pub canary: Canary,
    pub seed: u64,
    pub interrupt: Interrupt,
}

/// What is to be measured.
#[derive(Clone, Copy)]
pub struct Task<'a> {
    pub planned: &'a Planned<'a>,
    pub scenario: &'a PlannedScenario<'a>,
    pub contestant: &'a Contestant<'a>,
    pub block: u32,
}

pub struct Measured {
    pub outcome: Outcome,
    pub figures: Option<Figures>,
    pub gates: Vec<GateFinding>,
}

/// The run was told to stop: there is no trial to speak of.
#[derive(Debug)]
pub struct Interrupted;

impl Measured {
    pub fn failed(why: impl ToString) -> Self {
        Self {
            outcome: Outcome::Failed {
                why: why.to_string(),
            },
            figures: None,
            gates: Vec::new(),
        }
    }

    pub fn void(why: impl ToString) -> Self {
        Self {
            outcome: Outcome::Void {
                why: why.to_string(),
            },
            figures: None,
            gates: Vec::new(),
        }
    }

    /// Wrong answers, death and memory are the target's own; all else that voids is not.
    pub fn judged(figures: Figures, gates: Vec<GateFinding>) -> Self {
        let own = [
            Gate::ResponseErrors,
            Gate::ResponseBytes,
            Gate::ServerDied,
            Gate::OutOfMemory,
        ];
        let voiding = |own_fault: bool| {
            gates
                .iter()
                .filter(|found| found.effect == GateEffect::Void)
                .find(|found| own.contains(&found.gate) == own_fault)
                .map(|found| found.reading.clone())
        };
        let outcome = match (voiding(true), voiding(false)) {
            (Some(why), _) => Outcome::Failed { why },
            (None, Some(why)) => Outcome::Void { why },
            (None, None) => Outcome::Counted,
        };
        Self {
            outcome,
            figures: Some(figures),
            gates,
        }
    }
}

impl Bench<'_> {
    pub fn spec(&self, mode: CpuMode) -> Spec {
        let cpus = self.config.limits.cpus;
        Spec {
            cpu: match mode {
                CpuMode::Quota => Cpu::Quota(f64::from(cpus)),
                CpuMode::Pin | CpuMode::Unlimited => Cpu::Pin(self.cores.server.clone()),
            },
            memory_bytes: self.config.limits.memory_mb << 20,
        }
    }

    /// Carries out one trial.
    pub fn measure(&mut self, task: Task<'_>) -> Result<Measured, Interrupted> {
        let measured = match &task.contestant.subject {
            Subject::Unmanaged(origin) => self.load_unmanaged(task, &origin.clone()),
            Subject::Managed(target) if task.planned.profile.kind == ProfileKind::ColdStart => {
                cold_start::measure(self, task, target)
            }
            Subject::Managed(target) => self.load_fresh(task, target),
        };
        self.services.stop_those_with_target(self.config);
        match self.interrupt.is_set() {
            true => Err(Interrupted),
            false => Ok(measured),
        }
    }

    pub fn confine(&self, task: Task<'_>) -> std::io::Result<Confinement> {
        let spec = self.spec(task.planned.profile.cpu_mode.unwrap_or_default());
        self.backend.confine(&spec)
    }

    pub fn launch(
        &mut self,
        task: Task<'_>,
        target: &Target,
        confinement: &Confinement,
    ) -> anyhow::Result<Server> {
        let needed = self.config.services_of(target);
        self.services
            .start(self.config, &needed, Some(confinement))?;
        let first = &task.scenario.asks[0];
        let probe = Probe {
            path: &first.path,
            status: task.scenario.scenario.status,
            body: first.body.as_deref(),
        };
        Ok(Server::launch(
            self.config,
            target,
            &self.services,
            Some(confinement),
            &probe,
            START_WITHIN,
        )?)
    }

    fn load_fresh(&mut self, task: Task<'_>, target: &Target) -> Measured {
        let confinement = match self.confine(task) {
            Ok(confinement) => confinement,
            Err(error) => return Measured::void(format!("cannot set the limits: {error}")),
        };
        let mut server = match self.launch(task, target, &confinement) {
            Ok(server) => server,
            Err(error) => return Measured::failed(format!("{error:#}")),
        };
        let origin = server.origin.clone();
        let asks = match self.verified(task, &origin) {
            Ok(asks) => asks,
            Err(why) => return Measured::failed(why),
        };
        let beside = self.services.groups_with_target(self.config);
        let groups: Vec<u32> = beside
            .iter()
            .copied()
            .chain([server.process.pid()])
            .collect();
        let usage = || confinement.usage(&groups).unwrap_or_default();
        let (warm_up, unsteady) =
            warm_up(self, task, &origin, &asks, &|| Some(usage().cpu_seconds));

        let switches = usage::context_switches(&groups);
        let used_before = usage();
        let beside_before = cpu_of(&beside);
        let memory = MemorySampler::start(groups.clone(), confinement.watched_memory());
        let noise_before = Reading::now();
        let loaded = self.load(task, &origin, &asks);
        let noise_after = Reading::now();
        let used = usage();
        let beside_used = cpu_of(&beside) - beside_before;
        let switched = usage::context_switches(&groups).checked_sub(switches);
        let memory = memory.finish();
        let died = server.process.exited();

        let seconds = (noise_after.at - noise_before.at).as_secs_f64();
        let mut gates = gates::noise(&Noise::between(&noise_before, &noise_after));
        gates.extend(unsteady);
        if used.oom_kills.unwrap_or(0) > used_before.oom_kills.unwrap_or(0) || memory.over_limit {
            gates.push(own_fault(
                Gate::OutOfMemory,
                "ended for passing its memory limit".into(),
            ));
        } else if let Some(status) = died {
            let reading = format!(
                "the server ended with {status}: {}",
                last_line(&server.process.output())
            );
            gates.push(own_fault(Gate::ServerDied, reading));
        }
        let Loaded {
            mut figures,
            findings,
        } = match loaded {
            Ok(loaded) => loaded,
            Err(error) => return refused(gates, &error),
        };
        let cpu_seconds = used.cpu_seconds - used_before.cpu_seconds;
        let ours = noise_after.ours_seconds - noise_before.ours_seconds;
        figures.warm_up = warm_up;
        figures.load_side_cpu = Some(((ours - cpu_seconds) / seconds).max(0.0));
        figures.server = Some(ServerUse {
            cpu_seconds: Some(cpu_seconds),
            beside_cpu_seconds: (!beside.is_empty()).then_some(beside_used),
            peak_rss_bytes: Some(memory.peak_bytes),
            steady_rss_bytes: Some(memory.steady_bytes),
            context_switches: switched,
            throttled_seconds: throttled(&used_before, &used),
        });
        for second in &mut figures.timeline {
            if let Some(sampled) = memory.seconds.get(second.second as usize) {
                second.cpu = Some(sampled.cpu_cores);
                second.rss_bytes = Some(sampled.rss_bytes);
            }
        }
        gates.extend(findings);
        gates.extend(gates::throttled(&figures, seconds));
        gates.extend(self.headroom(task, &figures));
        // What a saturated server answers under load it must still answer afterwards.
        if died.is_none()
            && let Err(why) = self.verified(task, &origin)
        {
            let why = format!("after the load {why}");
            gates.push(own_fault(Gate::ResponseErrors, why));
        }
        server.stop();
        Measured::judged(figures, gates)
    }

    /// The scenario's own check, and a user that only this run's store has.
    fn verified(&mut self, task: Task<'_>, origin: &Origin) -> Result<Vec<Ask>, String> {
        let asks = right_answers(origin, task.scenario)?;
        if let Some(store) = &task.scenario.scenario.canary {
            self.canary.look_for(origin, &self.services, store)?;
        }
        Ok(asks)
    }

    /// No limits and no resource figures: it is not ours, and neither is its store.
    fn load_unmanaged(&mut self, task: Task<'_>, origin: &Origin) -> Measured {
        let asks = match right_answers(origin, task.scenario) {
            Ok(asks) => asks,
            Err(why) => return Measured::failed(why),
        };
        let (warm_up, unsteady) = warm_up(self, task, origin, &asks, &|| None);
        match self.load(task, origin, &asks) {
            Ok(Loaded {
                mut figures,
                findings,
            }) => {
                figures.warm_up = warm_up;
                let mut gates = findings;
                gates.extend(unsteady);
                gates.extend(self.headroom(task, &figures));
                Measured::judged(figures, gates)
            }
            Err(error) => refused(Vec::new(), &error),
        }
    }

    fn load(
        &self,
        task: Task<'_>,
        origin: &Origin,
        asks: &[Ask],
    ) -> Result<Loaded, GeneratorError> {
        let kind = task.planned.profile.kind;
        let scenario = &task.scenario.scenario.name;
        // The same for all targets of a block.
        let part = format!(
            "{}/{scenario}/{}/asks",
            task.planned.profile.name, task.block
        );
        let seed = seed_for(self.seed, &part) as u32;
        let run = |shape: Shape| {
            let load = Load {
                origin,
                status: task.scenario.scenario.status,
                asks,
                seed,
                shape,
            };
            self.generators.of(kind, shape).load(&load, &self.interrupt)
        };
        let shapes = task.planned.shapes(scenario);
        match (kind, shapes.as_slice()) {
            (ProfileKind::Capacity, _) => {
                let objective = task.planned.profile.slo_p99_ms.unwrap_or(f64::INFINITY);
                ladder::climb(&shapes, objective, run)
            }
            (_, [shape, ..]) => run(*shape),
            (_, []) => Err(GeneratorError::Unable {
                generator: "levelfield",
                what: "load by a profile that has no load",
            }),
        }
    }

    fn headroom(&self, task: Task<'_>, figures: &Figures) -> Option<GateFinding> {
        let shapes = task.planned.shapes(&task.scenario.scenario.name);
        let open = matches!(shapes.first(), Some(Shape::Open { .. }));
        let used = figures.load_side_cpu.or(figures.generator_cpu)?;
        gates::generator(used, self.cores.generator.cpus().len(), open)
    }
}

fn cpu_of(groups: &[u32]) -> f64 {
    groups.iter().map(|&group| usage::cpu_seconds(group)).sum()
}

fn refused(gates: Vec<GateFinding>, error: &GeneratorError) -> Measured {
    let own = gates
        .iter()
        .find(|found| matches!(found.gate, Gate::ServerDied | Gate::OutOfMemory));
    Measured {
        outcome: match own {
            Some(found) => Outcome::Failed {
                why: found.reading.clone(),
            },
            None => Outcome::Void {
                why: error.to_string(),
            },
        },
        figures: None,
        gates,
    }
}

fn own_fault(gate: Gate, reading: String) -> GateFinding {
    GateFinding {
        gate,
        effect: GateEffect::Void,
        reading,
    }
}

fn throttled(before: &Usage, after: &Usage) -> Option<f64> {
    Some(after.throttled_seconds? - before.throttled_seconds.unwrap_or(0.0))
}

fn last_line(output: &str) -> &str {
    output
        .trim_end()
        .lines()
        .next_back()
        .unwrap_or("it said nothing")
}
