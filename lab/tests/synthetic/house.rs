//! A whole run as the default bench.toml would give it, with one of everything that a report must be able to tell:
//! a missing target, a refused comparison, void and failed trials, labels, a sampled timeline.

use super::*;

const TARGETS: [(&str, &str, TargetKind, f64); 9] = [
    (
        "component",
        "WASI 0.3 component on levelfield-host, instances reused",
        TargetKind::Component,
        1.31,
    ),
    (
        "component-fresh",
        "WASI 0.3 component on levelfield-host, an instance per request",
        TargetKind::Component,
        1.92,
    ),
    (
        "component-wasi02",
        "WASI 0.2 component on levelfield-host, instances reused",
        TargetKind::Component,
        1.24,
    ),
    (
        "host-native",
        "levelfield-host with a native handler: HTTP without the sandbox",
        TargetKind::Control,
        1.04,
    ),
    ("native-rust", "axum on tokio", TargetKind::Native, 1.0),
    (
        "native-go",
        "net/http with the standard mux",
        TargetKind::Native,
        1.45,
    ),
    ("native-gin", "gin", TargetKind::Native, 1.52),
    ("native-node", "fastify", TargetKind::Native, 2.8),
    (
        "native-rust-twin",
        "the A/A control: native-rust under a second name",
        TargetKind::Native,
        1.0,
    ),
];

pub fn house(seed: u64) -> Results {
    let mut results = empty(seed);
    results.targets = TARGETS
        .iter()
        .map(|&(name, description, kind, cost)| Target {
            description: description.into(),
            command: vec![
                "native-server".into(),
                "--listen".into(),
                "127.0.0.1:{port}".into(),
            ],
            artifacts: vec![Artifact {
                kind: if kind == TargetKind::Component {
                    "wasm"
                } else {
                    "binary"
                }
                .into(),
                file: format!("{name}.bin"),
                bytes: (cost * 3_100_000.0) as u64,
                sha256: "ab".repeat(32),
            }],
            lines_of_code: Some(LinesOfCode {
                total: (cost * 400.0) as u64,
                by_language: BTreeMap::from([("Rust".into(), (cost * 400.0) as u64)]),
                sources: vec!["src".into()],
            }),
            build_seconds: Some(cost * 21.0),
            disclosures: vec![Fact {
                name: "allocator".into(),
                value: "system".into(),
            }],
            ..target(name, kind)
        })
        .collect();
    results.targets[8].twin_of = Some("native-rust".into());
    results.targets.push(Target {
        description: "ASP.NET Core MVC".into(),
        missing: Some("no dotnet on PATH".into()),
        ..target("native-mvc", TargetKind::Native)
    });
    let names: Vec<&str> = TARGETS.iter().map(|target| target.0).collect();
    results.contract = names.iter().map(|name| contract(name)).collect();
    let pair = |target: &str, baseline: &str| Comparison {
        target: target.into(),
        baseline: baseline.into(),
    };
    results.plan.comparisons = vec![
        pair("component", "native-rust"),
        pair("component-fresh", "native-rust"),
        pair("component-wasi02", "native-rust"),
        pair("component", "host-native"),
        pair("component", "native-go"),
        pair("native-gin", "native-go"),
        pair("native-node", "native-rust"),
    ];
    results.plan.exclusion_rules = vec![
        "A trial during which other processes used more than 10 % of a measured core is void."
            .into(),
        "A trial that dropped more than 0.1 % of its iterations is void.".into(),
    ];
    let truth = |name: &str| {
        let cost = TARGETS
            .iter()
            .find(|target| target.0 == name)
            .map_or(1.0, |target| target.3);
        RUST.times(cost)
    };
    for profile in profiles(&names) {
        add_trials(
            &mut results,
            &profile,
            Weather {
                noise: 0.03,
                drift: 0.004,
            },
            truth,
        );
        results.plan.profiles.push(profile);
    }
    results.calibrations = calibrations(seed);
    results.environment.cautions =
        vec!["These figures were drawn from known distributions to test the report. Nothing was measured.".into()];
    results.environment.programs = vec![Program {
        name: "k6".into(),
        version: "1.1.0".into(),
        sha256: Some("cd".repeat(32)),
    }];
    results.environment.facts = vec![Fact {
        name: "governor".into(),
        value: "performance".into(),
    }];
    spoil(&mut results);
    results
}

fn profiles(names: &[&str]) -> Vec<Profile> {
    let hello = || scenario("hello", "GET /helloWorld");
    let users = || scenario("users", "GET /users/1");
    let rated = |scenario: Scenario, rate: f64| Scenario {
        rate: Some(rate),
        ..scenario
    };
    let fixed = vec![rated(hello(), 1000.0), rated(users(), 300.0)];
    let original = vec![rated(hello(), 100.0), rated(users(), 10.0)];
    let slo = vec![Scenario {
        slo_p99_ms: Some(10.0),
        ..hello()
    }];
    let closed = vec![Scenario {
        requests: Some(50_000),
        ..scenario("values", "GET /api/values/5")
    }];
    vec![
        profile("fixed-rate", ProfileKind::FixedRate, 30, fixed, names),
        Profile {
            generator: "levelfield".into(),
            seconds: None,
            warm_up: None,
            connections: None,
            ..profile(
                "cold-start",
                ProfileKind::ColdStart,
                12,
                vec![hello()],
                names,
            )
        },
        Profile {
            generator: "bombardier".into(),
            ..profile("capacity", ProfileKind::Capacity, 10, slo, names)
        },
        Profile {
            cpu_mode: Some(CpuMode::Quota),
            connections: Some(100),
            warm_up: None,
            ..profile("original-k6", ProfileKind::OriginalK6, 1, original, names)
        },
        Profile {
            generator: "bombardier".into(),
            connections: Some(125),
            seconds: None,
            scaled: Some("50,000 of 5,000,000 requests".into()),
            ..profile(
                "original-closed",
                ProfileKind::OriginalClosed,
                1,
                closed,
                names,
            )
        },
    ]
}

fn contract(name: &str) -> ContractCheck {
    let mut check = checked(name, 12);
    if name == "native-gin" {
        check.cases[6].outcome = CaseOutcome::Fail {
            difference: "status: expected 404, got 301".into(),
        };
    }
    check
}

fn calibrations(seed: u64) -> Vec<Calibration> {
    let mut random = SplitMix64::new(seed);
    let one = |profile: &str, generator: &str, rate: f64, latency: Latency| Calibration {
        profile: profile.into(),
        scenario: None,
        generator: generator.into(),
        offered_rate: None,
        connections: Some(50),
        achieved_rate: rate,
        latency,
        generator_cpu: Some(0.35),
    };
    vec![
        one(
            "fixed-rate",
            "k6",
            1000.0,
            latency(10_000, 0.21, 0.3, 4.0, &mut random),
        ),
        one(
            "capacity",
            "bombardier",
            26_000.0,
            latency(250_000, 0.4, 0.3, 6.0, &mut random),
        ),
    ]
}

/// What goes wrong in real runs.
fn spoil(results: &mut Results) {
    let mut again = results.trials[40].clone();
    again.attempt = 1;
    results.trials.insert(41, again);
    let void = &mut results.trials[40];
    void.outcome = Outcome::Void {
        why: "foreign load: 41 % of a core, limit 10 %".into(),
    };
    void.gates.push(GateFinding {
        gate: Gate::ForeignLoad,
        effect: GateEffect::Void,
        reading: "41 % of a core, limit 10 %".into(),
    });
    results.trials[90].outcome = Outcome::Failed {
        why: "the server died: signal 9".into(),
    };
    results.trials[90].figures = None;
    results.trials[17].gates.push(GateFinding {
        gate: Gate::NotSteady,
        effect: GateEffect::Label,
        reading: "p50 still moving 4 % after 60 s".into(),
    });
    let timeline = (0..10).map(|second| Second {
        second,
        rate: 1000.0 - f64::from(second % 3) * 4.0,
        p50_ms: Some(0.8 + 0.02 * f64::from(second % 4)),
        p99_ms: Some(2.4 + 0.3 * f64::from(second % 5)),
        cpu: Some(0.05 + 0.002 * f64::from(second % 3)),
        rss_bytes: Some(12_000_000 + u64::from(second) * 20_000),
    });
    if let Some(figures) = &mut results.trials[3].figures {
        figures.timeline = timeline.collect();
    }
    for (sequence, trial) in results.trials.iter_mut().enumerate() {
        trial.sequence = sequence as u32;
    }
}
