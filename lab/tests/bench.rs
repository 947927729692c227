//! `levelfield bench` on servers of its own: what it records, whom it refuses, and what is left when it is stopped.

mod support;

use std::path::PathBuf;
use std::time::Duration;

use lab::results::{Gate, Outcome};
use support::bench::{BENCH, Bench, cgroups, marked, stderr, wait_until};
use testbed::{Process, Ready};

/// The least of a run: one target, one profile, one block.
const ONE_BLOCK: [&str; 7] = [
    "--quick",
    "--targets",
    "one",
    "--profiles",
    "fixed-rate",
    "--blocks",
    "1",
];

#[test]
fn a_quick_run_fills_every_place_of_its_plan_and_publishes_no_ratio() {
    let bench = Bench::new();
    let output = bench.run(&["--quick", "--seed", "7", "--targets", "one,two,one-again"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let results = bench.results();
    assert_eq!(results.stopped_early, None);
    assert!(results.finished.is_some());
    // Quick runs repeat nothing: 2 blocks of 3 targets, and 1 block of 3.
    assert_eq!(results.trials.len(), 9, "{}", stderr(&output));
    for block in 0..2 {
        let mut names: Vec<&str> = results
            .trials
            .iter()
            .filter(|trial| trial.profile == "fixed-rate" && trial.block == block)
            .map(|trial| trial.target.as_str())
            .collect();
        names.sort_unstable();
        assert_eq!(
            names,
            ["one", "one-again", "two"],
            "each block holds each target once"
        );
    }
    for trial in &results.trials {
        // Others may work on this machine: void is no failure, but failed is.
        assert!(
            !matches!(trial.outcome, Outcome::Failed { .. }),
            "{trial:?}"
        );
        let figures = trial.figures.as_ref().unwrap();
        if trial.profile == "cold-start" {
            assert_eq!(figures.cold_start.as_ref().unwrap().spawns_ms.len(), 2);
        } else {
            assert!((39..=41).contains(&figures.completed), "{figures:?}");
            let warm_up = figures.warm_up.unwrap();
            assert_eq!(warm_up.steady, None, "quick runs warm up for a fixed time");
            assert!((warm_up.seconds - 0.2).abs() < 1e-6, "{warm_up:?}");
            assert!(figures.load_side_cpu.unwrap() > 0.0);
            let server = figures.server.unwrap();
            assert!(
                server.cpu_seconds.unwrap() > 0.0 && server.peak_rss_bytes.unwrap() > 1_000_000
            );
        }
    }
    assert_eq!(results.calibrations.len(), 1);
    assert!(
        results.plan.command.contains("--seed 7"),
        "{}",
        results.plan.command
    );
    assert_eq!(
        results.target("one-again").unwrap().twin_of.as_deref(),
        Some("one")
    );
    let report = std::fs::read_to_string(bench.out().join("report.md")).unwrap();
    assert!(report.contains("quick"), "{report}");
}

#[test]
fn the_same_seed_gives_the_same_order_and_another_seed_another() {
    let order = |seed: u64| {
        let bench = Bench::new();
        let config = lab::config::Config::load(Some(&bench.dir.path().join("bench.toml"))).unwrap();
        let contestants = lab::bench::Contestant::all(&config, &[]);
        let options = lab::bench::Options {
            mode: lab::results::Mode::Thorough,
            seed,
            profiles: Vec::new(),
            targets: Vec::new(),
            scenarios: Vec::new(),
            blocks: Some(8),
            seconds: None,
            command: String::new(),
        };
        let schedule = lab::bench::Schedule::make(&config, &contestants, options).unwrap();
        (0..8)
            .map(|block| {
                let order = schedule.profiles[0].order(seed, "hello", block);
                order.iter().map(|one| one.name.clone()).collect::<Vec<_>>()
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(order(1), order(1));
    assert_ne!(order(1), order(2));
    let blocks = order(1);
    assert!(
        blocks.iter().any(|block| *block != blocks[0]),
        "every block is shuffled anew"
    );
}

#[test]
fn a_server_that_answers_wrongly_is_refused_and_has_no_figures() {
    let bench = Bench::new();
    let output = bench.run(&[
        "--quick",
        "--targets",
        "wrong",
        "--profiles",
        "fixed-rate",
        "--blocks",
        "1",
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let results = bench.results();
    assert_eq!(
        results.trials.len(),
        1,
        "what fails by itself is not repeated"
    );
    let trial = &results.trials[0];
    let Outcome::Failed { why } = &trial.outcome else {
        panic!("{trial:?}");
    };
    assert!(
        why.contains("not the one expected") && why.contains("other"),
        "{why}"
    );
    assert!(trial.figures.is_none());
}

#[test]
fn a_target_that_does_not_read_the_runs_store_has_failed() {
    if let Err(missing) = testbed::mongo::Mongo::start().map(drop) {
        let testbed::Error::Missing(missing) = missing else {
            panic!("{missing}")
        };
        return testbed::not_run("the user that only this run's store has", &missing);
    }
    let bench = Bench::new();
    let stored = BENCH
        .replacen(
            "body = \"hello\"",
            "body = \"hello\"\ncanary = \"mongo\"",
            1,
        )
        .replacen(
            "command = [\"python3\", \"server.py\", \"{port}\"]",
            "command = [\"python3\", \"server.py\", \"{port}\"]\nenv = { STORE = \"{mongo}\" }",
            1,
        );
    let service = "\n[service.mongo]\nstore = true\nbuiltin = \"mongo\"\n";
    std::fs::write(bench.dir.path().join("bench.toml"), stored + service).unwrap();
    let output = bench.run(&ONE_BLOCK);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let Outcome::Failed { why } = &bench.results().trials[0].outcome else {
        panic!("{}", stderr(&output));
    };
    assert!(why.contains("it reads another store, or a cache"), "{why}");
}

#[test]
fn a_warm_up_that_may_last_ends_when_the_server_is_steady_or_says_that_it_was_not() {
    let bench = Bench::new();
    let patient = BENCH.replacen(
        "warm_up_seconds = { default = 0.2 }",
        "warm_up_seconds = { default = 0.75 }\nwarm_up_at_most = { default = 2 }",
        1,
    );
    std::fs::write(bench.dir.path().join("bench.toml"), patient).unwrap();
    let output = bench.run(&ONE_BLOCK);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let results = bench.results();
    let trial = &results.trials[0];
    let warm_up = trial.figures.as_ref().unwrap().warm_up.unwrap();
    assert!((0.75..=2.0).contains(&warm_up.seconds), "{warm_up:?}");
    let labelled = trial
        .gates
        .iter()
        .any(|found| found.gate == Gate::NotSteady);
    assert_eq!(warm_up.steady, Some(!labelled), "{trial:?}");
}

#[test]
fn a_server_that_dies_under_load_has_failed() {
    let bench = Bench::new();
    let output = bench.run(&[
        "--quick",
        "--targets",
        "mortal",
        "--profiles",
        "fixed-rate",
        "--blocks",
        "1",
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let results = bench.results();
    assert_eq!(results.trials.len(), 1);
    let Outcome::Failed { why } = &results.trials[0].outcome else {
        panic!("{:?}", results.trials[0]);
    };
    assert!(
        why.contains("the server ended with exit status: 3"),
        "{why}"
    );
}

#[test]
fn what_this_machine_lacks_is_named_before_the_run_and_in_the_result() {
    let bench = Bench::new();
    let output = bench.run(&["--quick", "--targets", "one", "--profiles", "cold-start"]);
    assert!(
        stderr(&output).contains("absent: missing no-such-program"),
        "{}",
        stderr(&output)
    );
    let results = bench.results();
    assert_eq!(
        results.target("absent").unwrap().missing.as_deref(),
        Some("missing no-such-program")
    );
}

#[test]
fn a_server_that_runs_already_is_measured_without_limits() {
    let bench = Bench::new();
    let address = support::serve(|asked| support::answer(asked, 200, &[], "hello"));
    let mine = format!("mine=http://{address}");
    let output = bench.run(&[
        "--quick",
        "--target",
        &mine,
        "--targets",
        "one",
        "--profiles",
        "fixed-rate",
        "--blocks",
        "1",
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let results = bench.results();
    let target = results.target("mine").unwrap();
    assert!(!target.managed && target.url.as_deref() == Some(&format!("http://{address}")));
    let trial = results
        .trials
        .iter()
        .find(|trial| trial.target == "mine")
        .unwrap();
    let figures = trial.figures.as_ref().unwrap();
    assert!(
        figures.completed >= 39 && figures.server.is_none(),
        "{figures:?}"
    );
}

#[test]
fn an_interrupted_run_leaves_nothing_and_still_writes_its_report() {
    let bench = Bench::new();
    let mut command = bench.command(&["--targets", "one,two", "--blocks", "50"]);
    let mut run = Process::start(
        &mut command,
        Ready::Output("   1/".into()),
        Duration::from_secs(60),
    )
    .unwrap();
    let pid = run.pid();
    wait_until("a second trial begins", || !marked(pid).is_empty());
    run.signal(libc::SIGINT);
    let status = run.wait(Duration::from_secs(30)).expect("it ends");
    assert_eq!(status.code(), Some(130), "{}", run.output());
    assert_eq!(marked(pid), [] as [u32; 0]);
    assert_eq!(cgroups(pid), [] as [PathBuf; 0]);
    let results = bench.results();
    assert_eq!(results.stopped_early.as_deref(), Some("interrupted"));
    assert!(!results.trials.is_empty());
    assert!(bench.out().join("report.html").is_file());
}

#[test]
fn a_terminated_run_leaves_nothing() {
    let bench = Bench::new();
    let mut command = bench.command(&["--targets", "two", "--blocks", "50"]);
    let mut run = Process::start(
        &mut command,
        Ready::Output("   1/".into()),
        Duration::from_secs(60),
    )
    .unwrap();
    let pid = run.pid();
    run.signal(libc::SIGTERM);
    assert_eq!(
        run.wait(Duration::from_secs(30)).expect("it ends").code(),
        Some(130)
    );
    assert_eq!(marked(pid), [] as [u32; 0]);
    assert_eq!(cgroups(pid), [] as [PathBuf; 0]);
}

#[test]
fn a_plan_can_be_looked_at_without_starting_anything() {
    let bench = Bench::new();
    let output = bench.run(&["--plan", "--targets", "one,two"]);
    assert_eq!(output.status.code(), Some(0));
    let text = stderr(&output);
    assert!(
        text.contains("fixed-rate") && text.contains("6 trials in about"),
        "{text}"
    );
    assert!(!bench.out().exists());
}

/// A closed loop on a scenario of two requests.
const ONE_URL: &str = r#"
[[scenario.variant]]
path = "/2"
body = "hello"

[[profile]]
name = "closed"
kind = "original-closed"
requests = { hello = 10 }
blocks = { default = 1 }
scenarios = { default = ["hello"] }

[[profile]]
name = "cold-start""#;

#[test]
fn a_bench_toml_that_cannot_be_meant_is_refused_by_name() {
    for (from, to, named) in [
        ("memory_mb", "memory", "unknown field `memory`"),
        (
            "name = \"two\"",
            "name = \"one\"",
            "two targets are named \"one\"",
        ),
        ("of = \"one\"", "of = \"nobody\"", "\"nobody\""),
        ("body = \"hello\"", "", "not checked is not measured"),
        (
            "body = \"hello\"",
            "body = \"hello\"\ncanary = \"mongo\"",
            "\"mongo\"",
        ),
        (
            "warm_up_seconds = { default = 0.2 }",
            "warm_up_seconds = { default = 2 }\nwarm_up_at_most = { default = 1 }",
            "warm_up_at_most is below",
        ),
        (
            "\n[[profile]]\nname = \"cold-start\"",
            ONE_URL,
            "asks one URL only",
        ),
        ("rates = { hello = 40 }", "", "a rate for \"hello\""),
        (
            "default = [\"hello\"]",
            "default = [\"nothing\"]",
            "\"nothing\"",
        ),
        (
            "command = [\"python3\", \"server.py\", \"{port}\"]",
            "command = []",
            "empty command",
        ),
    ] {
        let bench = Bench::new();
        assert!(BENCH.contains(from), "{from}");
        std::fs::write(
            bench.dir.path().join("bench.toml"),
            BENCH.replacen(from, to, 1),
        )
        .unwrap();
        let output = bench.run(&["--plan"]);
        assert_eq!(output.status.code(), Some(2), "{to}");
        let text = stderr(&output);
        assert!(
            text.contains(named) && text.contains("bench.toml"),
            "{named}: {text}"
        );
    }
}

#[test]
fn an_unknown_name_on_the_command_line_is_refused() {
    let bench = Bench::new();
    for (flag, what) in [
        ("--targets", "target"),
        ("--profiles", "profile"),
        ("--scenarios", "scenario"),
    ] {
        let output = bench.run(&[flag, "nobody"]);
        assert_eq!(output.status.code(), Some(2));
        assert!(
            stderr(&output).contains(&format!("no {what} \"nobody\"")),
            "{}",
            stderr(&output)
        );
    }
}

#[test]
fn the_example_of_two_arbitrary_commands_runs_as_it_stands() {
    let out = tempfile::tempdir().unwrap();
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_levelfield"))
        .args(["bench", "--quick", "--config"])
        .arg(testbed::repo_root().join("docs/examples/bench.toml"))
        .arg("--out")
        .arg(out.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let results = lab::results::Results::read(out.path()).unwrap();
    assert_eq!(results.trials.len(), 6, "{}", stderr(&output));
    for trial in &results.trials {
        assert!(
            !matches!(trial.outcome, Outcome::Failed { .. }),
            "{trial:?}"
        );
    }
}

#[test]
fn the_default_mode_of_many_targets_is_shortened_to_half_an_hour() {
    let bench = Bench::new();
    let more: String = (0..14)
        .map(|number| {
            format!("\n[[target]]\nname = \"more-{number}\"\ncommand = [\"python3\", \"server.py\", \"{{port}}\"]\ncontract = false\n")
        })
        .collect();
    let long = BENCH
        .replace("seconds = { default = 1 }", "seconds = { default = 60 }")
        .replace("blocks = { default = 2 }", "blocks = { default = 10 }");
    std::fs::write(bench.dir.path().join("bench.toml"), long + &more).unwrap();
    let config = lab::config::Config::load(Some(&bench.dir.path().join("bench.toml"))).unwrap();
    let contestants = lab::bench::Contestant::all(&config, &[]);
    let options = |mode| lab::bench::Options {
        mode,
        seed: 1,
        profiles: Vec::new(),
        targets: Vec::new(),
        scenarios: Vec::new(),
        blocks: None,
        seconds: None,
        command: String::new(),
    };
    let minutes = |mode| {
        let schedule = lab::bench::Schedule::make(&config, &contestants, options(mode)).unwrap();
        schedule.seconds() / 60.0
    };
    let default = minutes(lab::results::Mode::Default);
    assert!(default > 20.0 && default < 30.0, "{default} minutes");
    assert!(minutes(lab::results::Mode::Thorough) > 180.0);
}
