//! Seeded synthetic runs: trials drawn from known distributions, so that what the statistics should say is known.

use std::collections::BTreeMap;

use lab::results::*;
use lab::stats::random::{SplitMix64, seed_for};
use lab::stats::student::normal_cdf;

mod house;

#[allow(unused_imports)] // not every test needs a whole run
pub use house::house;

/// The truth about one target: what its trials scatter around.
#[derive(Clone, Copy, Debug)]
pub struct Truth {
    pub p50_ms: f64,
    /// Spread of the logarithm of a request's latency.
    pub sigma: f64,
    pub cpu_us: f64,
    pub memory_mb: f64,
    pub cold_start_ms: f64,
    pub capacity: f64,
}

pub const RUST: Truth = Truth {
    p50_ms: 0.62,
    sigma: 0.42,
    cpu_us: 38.0,
    memory_mb: 9.2,
    cold_start_ms: 11.0,
    capacity: 21_400.0,
};

impl Truth {
    pub fn times(self, factor: f64) -> Truth {
        Truth {
            p50_ms: self.p50_ms * factor,
            cpu_us: self.cpu_us * factor,
            memory_mb: self.memory_mb * factor,
            cold_start_ms: self.cold_start_ms * factor,
            capacity: self.capacity / factor,
            ..self
        }
    }
}

/// How the machine behaves.
#[derive(Clone, Copy, Debug)]
pub struct Weather {
    /// Spread of the logarithm between trials of one target.
    pub noise: f64,
    /// Growth of everything per block, common to all targets: 0.05 for 5 %.
    pub drift: f64,
}

pub const CALM: Weather = Weather {
    noise: 0.02,
    drift: 0.0,
};

/// A run of one fixed-rate profile on one scenario: the baseline "native-rust", its twin, and the others.
pub fn fixed_rate(seed: u64, blocks: u32, weather: Weather, others: &[(&str, Truth)]) -> Results {
    let mut truths = vec![("native-rust", RUST), ("native-rust-twin", RUST)];
    truths.extend(others);
    let mut results = empty(seed);
    results.targets = truths
        .iter()
        .map(|(name, _)| target(name, TargetKind::Native))
        .collect();
    results.targets[1].twin_of = Some("native-rust".into());
    results.contract = truths.iter().map(|(name, _)| checked(name, 3)).collect();
    results.plan.comparisons = others
        .iter()
        .map(|(name, _)| Comparison {
            target: (*name).into(),
            baseline: "native-rust".into(),
        })
        .collect();
    let hello = Scenario {
        rate: Some(1000.0),
        ..scenario("hello", "GET /helloWorld")
    };
    let names: Vec<&str> = truths.iter().map(|(name, _)| *name).collect();
    let profile = profile(
        "fixed-rate",
        ProfileKind::FixedRate,
        blocks,
        vec![hello],
        &names,
    );
    add_trials(&mut results, &profile, weather, |name| {
        truths
            .iter()
            .find(|(other, _)| *other == name)
            .expect("named above")
            .1
    });
    results.plan.profiles.push(profile);
    results
}

/// Draws the trials of every block, scenario and target of a profile and appends them in shuffled order.
pub fn add_trials(
    results: &mut Results,
    profile: &Profile,
    weather: Weather,
    truth: impl Fn(&str) -> Truth,
) {
    let mut random = SplitMix64::new(seed_for(results.plan.seed, &profile.name));
    for block in 0..profile.blocks {
        for scenario in &profile.scenarios {
            let mut order = profile.targets.clone();
            for last in (1..order.len()).rev() {
                order.swap(last, random.below(last + 1));
            }
            for name in order {
                let weight = (1.0 + weather.drift * f64::from(block))
                    * (weather.noise * normal(&mut random)).exp();
                let truth = truth(&name).times(weight);
                let seconds = profile.seconds.unwrap_or(1.0);
                let started = results
                    .trials
                    .last()
                    .map_or(0.0, |last| last.started_seconds + last.seconds);
                results.trials.push(Trial {
                    sequence: results.trials.len() as u32,
                    profile: profile.name.clone(),
                    scenario: scenario.name.clone(),
                    target: name,
                    block,
                    attempt: 0,
                    started_seconds: started + 3.0,
                    seconds,
                    outcome: Outcome::Counted,
                    figures: Some(figures(profile, scenario, truth, seconds, &mut random)),
                    gates: vec![],
                });
            }
        }
    }
}

fn figures(
    profile: &Profile,
    scenario: &Scenario,
    truth: Truth,
    seconds: f64,
    random: &mut SplitMix64,
) -> Figures {
    let requests = scenario
        .requests
        .unwrap_or_else(|| (scenario.rate.unwrap_or(1000.0) * seconds).round() as u64);
    let server = ServerUse {
        beside_cpu_seconds: None,
        cpu_seconds: Some(truth.cpu_us * requests as f64 / 1e6),
        peak_rss_bytes: Some((truth.memory_mb * 1e6) as u64),
        steady_rss_bytes: Some((truth.memory_mb * 0.94e6) as u64),
        context_switches: Some(requests * 2),
        throttled_seconds: None,
    };
    let mut figures = Figures {
        completed: requests,
        statuses: BTreeMap::from([(200, requests)]),
        offered_rate: scenario.rate,
        bytes_received: Some(requests * 154),
        generator_cpu: Some(0.3 + 0.1 * random.unit()),
        ..Figures::default()
    };
    match profile.kind {
        ProfileKind::ColdStart => {
            let spawn = |_| truth.cold_start_ms * (0.05 * normal(random)).exp();
            let spawns_ms = (0..3).map(spawn).collect();
            return Figures {
                cold_start: Some(ColdStart {
                    page_cache_dropped: false,
                    spawns_ms,
                }),
                ..Figures::default()
            };
        }
        ProfileKind::Capacity => figures.ladder = ladder(truth, scenario),
        ProfileKind::OriginalClosed => {
            let mean = truth.capacity * 1.1;
            figures.rate = Some(Rate {
                mean,
                stdev: Some(mean * 0.06),
                max: Some(mean * 1.17),
            });
            let queueing = profile.connections.unwrap_or(125) as f64 / mean * 1e3;
            figures.latency = Some(latency(requests, queueing, 0.3, 1.0, random));
        }
        _ => {
            let achieved = requests as f64 / seconds;
            figures.rate = Some(Rate {
                mean: achieved,
                stdev: None,
                max: None,
            });
            figures.latency = Some(latency(
                requests,
                truth.p50_ms,
                truth.sigma,
                truth.p50_ms * 40.0,
                random,
            ));
        }
    }
    figures.server = Some(server);
    figures
}

/// A lognormal latency as a generator would print it.
pub fn latency(n: u64, p50: f64, sigma: f64, most: f64, random: &mut SplitMix64) -> Latency {
    let at = |p: f64| p50 * (sigma * normal_quantile(p)).exp();
    let grid = [
        0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7,
        0.75, 0.8, 0.85, 0.9, 0.92, 0.94, 0.95, 0.96, 0.97, 0.98, 0.985, 0.99, 0.992, 0.994, 0.995,
        0.996, 0.997, 0.998, 0.999,
    ];
    // Real tails are heavier than a lognormal's and wobble from trial to trial.
    let heavier = 1.0 + 0.3 * random.unit();
    let tail = |p: f64| 1.0 + heavier * ((p - 0.97).max(0.0) / 0.03).powi(2);
    let quantiles: Vec<Quantile> = grid
        .iter()
        .map(|&p| Quantile {
            p,
            ms: at(p) * tail(p),
        })
        .collect();
    Latency {
        n,
        min_ms: at(0.0005),
        mean_ms: p50 * (sigma * sigma / 2.0).exp(),
        max_ms: (at(0.9999) * tail(1.0)).max(most * (0.5 + random.unit())),
        stdev_ms: Some(p50 * sigma),
        quantiles,
    }
}

fn ladder(truth: Truth, scenario: &Scenario) -> Vec<Step> {
    let slo = scenario.slo_p99_ms.unwrap_or(10.0);
    [1, 2, 4, 8, 16, 32, 64, 128, 256]
        .into_iter()
        .map(|connections| {
            let offered = f64::from(connections) / (truth.p50_ms / 1e3 * 0.4);
            let rate = truth.capacity * (1.0 - (-offered / truth.capacity).exp()) * 1.02;
            let p50_ms = f64::from(connections) / rate * 1e3;
            let p99_ms = p50_ms * (1.8 + 2.4 * rate / truth.capacity);
            let passed = p99_ms <= slo;
            Step {
                connections,
                offered_rate: None,
                rate,
                p50_ms,
                p99_ms,
                errors: 0,
                dropped_share: 0.0,
                passed,
            }
        })
        .collect()
}

/// A standard normal number (Box and Muller).
pub fn normal(random: &mut SplitMix64) -> f64 {
    let radius = (-2.0 * (1.0 - random.unit()).ln()).sqrt();
    radius * (std::f64::consts::TAU * random.unit()).cos()
}

fn normal_quantile(p: f64) -> f64 {
    let (mut low, mut high) = (-10.0, 10.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if normal_cdf(middle) < p {
            low = middle
        } else {
            high = middle
        }
    }
    low
}

pub fn scenario(name: &str, request: &str) -> Scenario {
    Scenario {
        name: name.into(),
        request: request.into(),
        variants: vec![],
        rate: None,
        requests: None,
        slo_p99_ms: None,
    }
}

pub fn profile(
    name: &str,
    kind: ProfileKind,
    blocks: u32,
    scenarios: Vec<Scenario>,
    targets: &[&str],
) -> Profile {
    Profile {
        name: name.into(),
        kind,
        generator: "k6".into(),
        keep_alive: true,
        blocks,
        scenarios,
        targets: targets.iter().map(|name| name.to_string()).collect(),
        seconds: Some(10.0),
        warm_up: Some("until steady, 5 to 60 s".into()),
        connections: Some(50),
        page_cache_dropped: false,
        cpu_mode: None,
        scaled: None,
    }
}

pub fn target(name: &str, kind: TargetKind) -> Target {
    Target {
        name: name.into(),
        description: format!("{name}, drawn from a known distribution"),
        kind,
        twin_of: None,
        missing: None,
        command: vec![name.into()],
        env: BTreeMap::new(),
        contract: true,
        managed: true,
        url: None,
        artifacts: vec![],
        lines_of_code: None,
        build_seconds: None,
        dependencies: None,
        disclosures: vec![],
    }
}

pub fn checked(name: &str, cases: usize) -> ContractCheck {
    let case = |i| CaseResult {
        case: format!("case {i}"),
        outcome: CaseOutcome::Pass,
    };
    ContractCheck {
        target: name.into(),
        cases: (0..cases).map(case).collect(),
    }
}

pub fn empty(seed: u64) -> Results {
    Results {
        schema_version: SCHEMA_VERSION,
        lab_version: "0.1.0".into(),
        started: "2026-01-01T00:00:00Z".into(),
        finished: Some("2026-01-01T00:29:00Z".into()),
        stopped_early: None,
        environment: Environment {
            machine: Machine {
                cpu_model: "Synthetic CPU".into(),
                logical_cpus: 2,
                memory_bytes: 8_000_000_000,
                kernel: "6.1".into(),
                os: "none: these trials were drawn, not measured".into(),
                architecture: "x86_64".into(),
                virtualization: None,
            },
            limits: Limits {
                backend: "cgroup v1".into(),
                cpu_mode: CpuMode::Pin,
                cpus: 1.0,
                memory_bytes: 512 * 1024 * 1024,
                weakness: None,
                server_cpus: Some("1".into()),
                generator_cpus: Some("0".into()),
            },
            ..Environment::default()
        },
        plan: Plan {
            mode: Mode::Default,
            seed,
            command: format!("levelfield bench --seed {seed}"),
            bench_toml_sha256: "0".repeat(64),
            profiles: vec![],
            comparisons: vec![],
            exclusion_rules: vec![],
            max_repeats: 2,
            budget_seconds: None,
        },
        targets: vec![],
        calibrations: vec![],
        contract: vec![],
        trials: vec![],
    }
}
