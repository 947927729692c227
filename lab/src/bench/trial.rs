//! One trial: a fresh process inside its limits, warmed up, loaded, read, judged by the gates, and stopped.

use std::time::{Duration, Instant};

use super::{Contestant, Cores, Generators, Planned, PlannedScenario, Subject, ladder};
use crate::config::{Config, Target};
use crate::gates;
use crate::generators::{
    Generator, GeneratorError, Load, Loaded, Shape, Until, open_loop::OwnLoop,
};
use crate::http::{Connection, Origin, Request};
use crate::interrupt::Interrupt;
use crate::limits::{Backend, Confinement, Cpu, Spec, Usage};
use crate::noise::{Noise, Reading};
use crate::results::{
    ColdStart, CpuMode, Figures, Gate, GateEffect, GateFinding, Outcome, ProfileKind, ServerUse,
};
use crate::server::{Probe, Server};
use crate::services::Services;
use crate::usage::{self, MemorySampler};

pub const WARM_UP_CONNECTIONS: u32 = 8;
const START_WITHIN: Duration = Duration::from_secs(30);
const PATIENCE: Duration = Duration::from_secs(5);

/// What trials share.
pub struct Bench<'a> {
    pub config: &'a Config,
    pub cores: Cores,
    pub backend: Box<dyn Backend>,
    pub generators: Generators,
    /// Those of the whole run.
    pub services: Services,
    pub interrupt: Interrupt,
}

/// What is to be measured.
#[derive(Clone, Copy)]
pub struct Task<'a> {
    pub planned: &'a Planned<'a>,
    pub scenario: &'a PlannedScenario<'a>,
    pub contestant: &'a Contestant<'a>,
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
    fn failed(why: impl ToString) -> Self {
        Self {
            outcome: Outcome::Failed {
                why: why.to_string(),
            },
            figures: None,
            gates: Vec::new(),
        }
    }

    fn void(why: impl ToString) -> Self {
        Self {
            outcome: Outcome::Void {
                why: why.to_string(),
            },
            figures: None,
            gates: Vec::new(),
        }
    }

    /// Wrong answers, death and memory are the target's own; all else that voids is not.
    fn judged(figures: Figures, gates: Vec<GateFinding>) -> Self {
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
                self.start_cold(task, target)
            }
            Subject::Managed(target) => self.load_fresh(task, target),
        };
        self.services.stop_those_with_target(self.config);
        match self.interrupt.is_set() {
            true => Err(Interrupted),
            false => Ok(measured),
        }
    }

    fn confine(&self, task: Task<'_>) -> std::io::Result<Confinement> {
        let spec = self.spec(task.planned.profile.cpu_mode.unwrap_or_default());
        self.backend.confine(&spec)
    }

    fn launch(
        &mut self,
        task: Task<'_>,
        target: &Target,
        confinement: &Confinement,
    ) -> anyhow::Result<Server> {
        let needed = self.config.services_of(target);
        self.services
            .start(self.config, &needed, Some(confinement))?;
        let scenario = task.scenario;
        let probe = Probe::of_scenario(scenario.scenario, scenario.body.as_deref());
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
        if let Err(why) = right_answer(&origin, task.scenario) {
            return Measured::failed(why);
        }
        self.warm_up(task, &origin);
        let group = server.process.pid();
        let groups: Vec<u32> = self.services.pids().into_iter().chain([group]).collect();
        let switches = usage::context_switches(&groups);
        let used_before = confinement.usage(group).unwrap_or_default();
        let memory = MemorySampler::start(groups.clone(), confinement.watched_memory());
        let began = Instant::now();
        let noise_before = Reading::now();
        let loaded = self.load(task, &origin);
        let noise = Noise::between(&noise_before, &Reading::now());
        let seconds = began.elapsed().as_secs_f64();
        let used = confinement.usage(group).unwrap_or_default();
        let switched = usage::context_switches(&groups).checked_sub(switches);
        let memory = memory.finish();
        let died = server.process.exited();
        let mut gates = gates::noise(&noise);
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
        figures.server = Some(ServerUse {
            cpu_seconds: Some(used.cpu_seconds - used_before.cpu_seconds),
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
            && let Err(why) = right_answer(&origin, task.scenario)
        {
            gates.push(own_fault(
                Gate::ResponseErrors,
                format!("after the load {why}"),
            ));
        }
        server.stop();
        Measured::judged(figures, gates)
    }

    /// No limits and no resource figures: it is not ours.
    fn load_unmanaged(&mut self, task: Task<'_>, origin: &Origin) -> Measured {
        if let Err(why) = right_answer(origin, task.scenario) {
            return Measured::failed(why);
        }
        self.warm_up(task, origin);
        match self.load(task, origin) {
            Ok(loaded) => {
                let mut gates = loaded.findings;
                gates.extend(self.headroom(task, &loaded.figures));
                Measured::judged(loaded.figures, gates)
            }
            Err(error) => refused(Vec::new(), &error),
        }
    }

    fn start_cold(&mut self, task: Task<'_>, target: &Target) -> Measured {
        let noise_before = Reading::now();
        let mut spawns_ms = Vec::new();
        for _ in 0..task.planned.profile.spawns {
            if self.interrupt.is_set() {
                break;
            }
            let confinement = match self.confine(task) {
                Ok(confinement) => confinement,
                Err(error) => return Measured::void(format!("cannot set the limits: {error}")),
            };
            match self.launch(task, target, &confinement) {
                Ok(server) => {
                    spawns_ms.push(server.started_in.as_secs_f64() * 1e3);
                    server.stop();
                }
                Err(error) => return Measured::failed(format!("{error:#}")),
            }
            // The next one starts cold, its own services included.
            self.services.stop_those_with_target(self.config);
        }
        let noise = Noise::between(&noise_before, &Reading::now());
        let figures = Figures {
            completed: spawns_ms.len() as u64,
            cold_start: Some(ColdStart {
                page_cache_dropped: false,
                spawns_ms,
            }),
            ..Figures::default()
        };
        Measured::judged(figures, gates::noise(&noise))
    }

    fn warm_up(&self, task: Task<'_>, origin: &Origin) {
        let seconds = task.planned.warm_up_seconds;
        if seconds > 0.0 {
            let shape = Shape::Closed {
                connections: WARM_UP_CONNECTIONS,
                until: Until::Seconds(seconds),
            };
            // Errors that matter come again when the load is measured.
            let _ = OwnLoop.load(&load_of(task.scenario, origin, shape), &self.interrupt);
        }
    }

    fn load(&self, task: Task<'_>, origin: &Origin) -> Result<Loaded, GeneratorError> {
        let shapes = task.planned.shapes(&task.scenario.scenario.name);
        let run = |shape: Shape| {
            self.generators
                .of(task.planned.profile.kind, shape)
                .load(&load_of(task.scenario, origin, shape), &self.interrupt)
        };
        if task.planned.profile.kind != ProfileKind::Capacity {
            let shape = shapes.first().copied();
            return run(shape.unwrap_or(Shape::Closed {
                connections: 1,
                until: Until::Requests(1),
            }));
        }
        let objective = task.planned.profile.slo_p99_ms.unwrap_or(f64::INFINITY);
        ladder::climb(&shapes, objective, run)
    }

    fn headroom(&self, task: Task<'_>, figures: &Figures) -> Option<GateFinding> {
        let shapes = task.planned.shapes(&task.scenario.scenario.name);
        let open = matches!(shapes.first(), Some(Shape::Open { .. }));
        gates::generator(
            figures.generator_cpu?,
            self.cores.generator.cpus().len(),
            open,
        )
    }
}

fn load_of<'a>(scenario: &'a PlannedScenario<'_>, origin: &'a Origin, shape: Shape) -> Load<'a> {
    Load {
        origin,
        path: &scenario.scenario.path,
        status: scenario.scenario.status,
        body: scenario.body.as_deref(),
        shape,
    }
}

/// The scenario's own check.
fn right_answer(origin: &Origin, scenario: &PlannedScenario<'_>) -> Result<(), String> {
    let expected = scenario.scenario;
    let request = Request {
        method: "GET",
        target: &expected.path,
    };
    let answer = Connection::open(origin, PATIENCE)
        .and_then(|mut connection| connection.exchange(request, PATIENCE))
        .map_err(|error| format!("GET {}: {error}", expected.path))?;
    if answer.status != expected.status {
        return Err(format!(
            "GET {}: expected {}, got {}",
            expected.path, expected.status, answer.status
        ));
    }
    let same_bytes = scenario
        .body
        .as_ref()
        .is_none_or(|body| *body == answer.body);
    let same_hash = expected
        .sha256
        .as_ref()
        .is_none_or(|hash| *hash == crate::digest::sha256_hex(&answer.body));
    match same_bytes && same_hash {
        true => Ok(()),
        false => Err(format!(
            "GET {}: the body is not the one expected",
            expected.path
        )),
    }
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
