//! `levelfield compare` and `levelfield report` on synthetic runs: exit codes, refusals, and what is printed.

#[allow(dead_code)] // shared with the other tests, which use the rest
mod synthetic;

use std::path::Path;
use std::process::{Command, Output};

use lab::results::{Mode, Results};
use synthetic::{CALM, RUST, fixed_rate};

fn levelfield(args: &[&Path], flags: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_levelfield"));
    command
        .arg("compare")
        .args(args)
        .args(flags)
        .output()
        .expect("the binary was built")
}

struct Compared {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

fn compare(old: &Results, new: &Results, flags: &[&str]) -> Compared {
    let (a, b) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    old.write(a.path()).unwrap();
    new.write(b.path()).unwrap();
    let output = levelfield(&[a.path(), b.path()], flags);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Compared {
        code: output.status.code(),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    }
}

fn run(seed: u64, factor: f64) -> Results {
    fixed_rate(seed, 12, CALM, &[("other", RUST.times(factor))])
}

#[test]
fn a_target_that_became_slower_is_a_regression_and_fails_the_build() {
    let compared = compare(&run(1, 1.0), &run(2, 1.15), &[]);
    assert_eq!(compared.code, Some(1), "{}", compared.stderr);
    assert!(
        compared.stdout.starts_with("3 regressions.\n"),
        "{}",
        compared.stdout
    );
    let line = |line: &&str| line.starts_with("| other | hello, fixed-rate | p50 latency |");
    let p50 = compared.stdout.lines().find(line).unwrap();
    assert!(p50.ends_with("| **regression**: slower |"), "{p50}");
}

#[test]
fn the_same_again_is_no_regression_and_neither_is_an_improvement() {
    let again = compare(&run(1, 1.0), &run(2, 1.0), &[]);
    assert_eq!(again.code, Some(0), "{}", again.stdout);
    assert!(
        again.stdout.starts_with("No regression.\n"),
        "{}",
        again.stdout
    );
    assert_eq!(compare(&run(1, 1.15), &run(2, 1.0), &[]).code, Some(0));
}

#[test]
fn unlike_runs_are_refused_with_every_differing_key_and_its_values() {
    let old = run(1, 1.0);
    let mut new = run(2, 1.0);
    new.environment.machine.cpu_model = "Another CPU".into();
    new.plan.profiles[0].keep_alive = false;
    new.plan.profiles[0].scenarios[0].rate = Some(500.0);
    let compared = compare(&old, &new, &[]);
    assert_eq!(compared.code, Some(2));
    assert!(compared.stdout.is_empty());
    for line in [
        "the runs are unlike in CPU model, fixed-rate: keep-alive, fixed-rate hello: rate",
        "CPU model: Synthetic CPU in the old run, Another CPU in the new",
        "fixed-rate: keep-alive: true in the old run, false in the new",
        "fixed-rate hello: rate: 1000 in the old run, 500 in the new",
        "--force compares all the same",
    ] {
        assert!(
            compared.stderr.contains(line),
            "{line}\n{}",
            compared.stderr
        );
    }
}

#[test]
fn force_compares_unlike_runs_and_still_prints_what_differs() {
    let mut new = run(2, 1.0);
    new.environment.machine.logical_cpus = 64;
    let compared = compare(&run(1, 1.0), &new, &["--force"]);
    assert_eq!(compared.code, Some(0));
    assert!(
        compared
            .stderr
            .contains("logical CPUs: 2 in the old run, 64 in the new")
    );
    assert!(compared.stdout.contains("| p50 latency |"));
}

#[test]
fn a_quick_run_and_one_whose_control_disagrees_are_refused() {
    let mut quick = run(2, 1.0);
    quick.plan.mode = Mode::Quick;
    let compared = compare(&run(1, 1.0), &quick, &[]);
    assert_eq!(compared.code, Some(2));
    assert!(
        compared.stderr.contains("the new run is a quick one"),
        "{}",
        compared.stderr
    );

    let mut untrue = run(1, 1.0);
    for trial in untrue
        .trials
        .iter_mut()
        .filter(|trial| trial.target == "native-rust-twin")
    {
        let latency = trial.figures.as_mut().unwrap().latency.as_mut().unwrap();
        latency
            .quantiles
            .iter_mut()
            .for_each(|quantile| quantile.ms *= 1.3);
    }
    let compared = compare(&untrue, &run(2, 1.0), &[]);
    assert_eq!(compared.code, Some(2));
    assert!(
        compared.stderr.contains("the old run is not trustworthy"),
        "{}",
        compared.stderr
    );
}

#[test]
fn runs_with_nothing_in_common_are_refused_even_with_force() {
    let mut new = run(2, 1.0);
    new.plan.profiles[0].name = "elsewhere".into();
    let compared = compare(&run(1, 1.0), &new, &["--force"]);
    assert_eq!(compared.code, Some(2));
    assert!(
        compared
            .stderr
            .contains("no target, profile and scenario in common")
    );
}

#[test]
fn benchers_format_is_the_new_runs_figures() {
    let compared = compare(&run(1, 1.0), &run(2, 1.0), &["--format", "bencher"]);
    let json: serde_json::Value = serde_json::from_str(&compared.stdout).unwrap();
    let measure = &json["fixed-rate/hello/other"]["latency-p50-ms"];
    let value = measure["value"].as_f64().unwrap();
    assert!((value - RUST.p50_ms).abs() < 0.05, "{measure}");
    assert!(measure["lower_value"].as_f64().unwrap() <= value);
    assert!(measure["upper_value"].as_f64().unwrap() >= value);
}

#[test]
fn report_renders_a_run_again_and_refuses_a_directory_without_one() {
    let dir = tempfile::tempdir().unwrap();
    let report = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_levelfield"));
        command
            .arg("report")
            .arg(dir.path())
            .output()
            .expect("the binary was built")
    };
    let empty = report();
    assert_eq!(empty.status.code(), Some(2));
    let message = String::from_utf8(empty.stderr).unwrap();
    assert!(message.starts_with("levelfield: cannot read "), "{message}");
    assert_eq!(message.lines().count(), 1, "{message}");

    run(1, 1.2).write(dir.path()).unwrap();
    let written = report();
    assert_eq!(written.status.code(), Some(0));
    for line in String::from_utf8(written.stdout).unwrap().lines() {
        assert!(Path::new(line).metadata().unwrap().len() > 1000, "{line}");
    }
}
