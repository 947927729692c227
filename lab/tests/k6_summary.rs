//! What the real k6 printed, in both of its formats: `golden/k6/record.py` recorded it.

use std::path::Path;

use lab::generators::K6Summary;
use lab::results::Gate;

const RATE: f64 = 20.0;
const SECONDS: f64 = 2.0;
const KINDS: [&str; 5] = ["fine", "drops", "dead", "throwing", "crossed"];

fn golden(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden/k6")
        .join(file);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn summary(kind: &str) -> K6Summary {
    K6Summary::parse(&golden(&format!("{kind}.handle-summary.json"))).unwrap()
}

fn gates(kind: &str) -> Vec<Gate> {
    let findings = summary(kind).findings(RATE, SECONDS, &golden(&format!("{kind}.log")));
    findings.into_iter().map(|finding| finding.gate).collect()
}

#[test]
fn both_formats_tell_the_same() {
    for kind in KINDS {
        let flat = K6Summary::parse(&golden(&format!("{kind}.summary-export.json"))).unwrap();
        assert_eq!(flat, summary(kind), "{kind}");
    }
}

#[test]
fn a_fine_run_passes_every_gate_and_has_latency_of_every_request() {
    let fine = summary("fine");
    assert_eq!(gates("fine"), []);
    let latency = fine.latency.unwrap();
    assert_eq!(latency.count, fine.iterations);
    assert_eq!(fine.checks_passed, fine.iterations);
    assert!((40..=41).contains(&fine.iterations));
    assert!(
        latency.min_ms > 0.0
            && latency.min_ms <= latency.avg_ms
            && latency.avg_ms <= latency.max_ms
    );
    let ps: Vec<f64> = latency.quantiles.iter().map(|(p, _)| *p).collect();
    assert_eq!(ps, [0.5, 0.95, 0.99]);
    assert_eq!(fine.thresholds_crossed, 0);
}

#[test]
fn dropped_iterations_are_counted_and_void() {
    let drops = summary("drops");
    assert!(drops.dropped > 10 && drops.dropped_share() > 0.2);
    assert!(gates("drops").contains(&Gate::DroppedIterations));
}

#[test]
fn a_dead_server_has_no_latency_and_every_answer_is_an_error() {
    let dead = summary("dead");
    assert_eq!(dead.latency, None, "failed connects add samples of 0 ms");
    assert_eq!(dead.requests_failed, dead.iterations);
    assert_eq!(gates("dead"), [Gate::ResponseErrors]);
    let figures = dead.figures(RATE);
    assert_eq!(figures.completed, 0);
    assert_eq!(figures.errors["failed request"], dead.iterations);
    assert!(figures.latency.is_none());
}

#[test]
fn a_throwing_script_is_found_by_its_missing_checks_and_by_its_log() {
    let throwing = summary("throwing");
    assert_eq!(throwing.checks_passed + throwing.checks_failed, 0);
    assert_eq!(gates("throwing"), [Gate::ScriptErrors, Gate::ScriptErrors]);
}

#[test]
fn a_crossed_threshold_is_seen_in_both_formats() {
    assert_eq!(summary("crossed").thresholds_crossed, 1);
    assert_eq!(
        gates("crossed"),
        [Gate::ScriptErrors],
        "k6 logs it as an error"
    );
}

#[test]
fn too_few_iterations_mean_that_the_rate_was_not_offered() {
    let findings = summary("fine").findings(RATE * 2.0, SECONDS, "");
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0].gate, Gate::OfferedRate);
}

#[test]
fn what_is_no_summary_is_refused() {
    for text in [
        "",
        "{}",
        r#"{"metrics":{}}"#,
        r#"{"metrics":{"iterations":{"values":{}}}}"#,
    ] {
        assert!(K6Summary::parse(text).is_err(), "{text}");
    }
}
