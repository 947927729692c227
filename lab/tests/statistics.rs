//! What the analysis says of runs whose truth is known.

#[allow(dead_code)] // shared with the other tests, which use the rest
mod synthetic;

use lab::analysis::{Analysis, Control, Finding, Label, Ratio};
use lab::metric::Metric;
use lab::results::{CaseOutcome, Mode, Outcome, Results};
use lab::stats::verdict::Verdict;
use synthetic::{CALM, RUST, Weather, fixed_rate};

fn ratio(analysis: &Analysis, target: &str, metric: Metric) -> Ratio {
    let found = analysis
        .ratios
        .iter()
        .find(|r| r.target == target && r.metric == metric);
    found
        .expect("a planned comparison is always listed")
        .clone()
}

fn verdict(results: &Results, metric: Metric) -> Finding {
    ratio(&Analysis::of(results), "other", metric).finding
}

#[test]
fn equal_targets_are_equivalent_and_the_control_agrees() {
    let results = fixed_rate(
        1,
        20,
        Weather {
            noise: 0.01,
            drift: 0.0,
        },
        &[("other", RUST)],
    );
    let analysis = Analysis::of(&results);
    for metric in [Metric::P50, Metric::CpuPerRequest, Metric::PeakMemory] {
        let finding = ratio(&analysis, "other", metric).finding;
        assert_eq!(finding, Finding::Verdict(Verdict::Equivalent), "{metric:?}");
    }
    assert_eq!(analysis.trust.control, Control::Agrees { intervals: 3 });
    assert!(analysis.trust.is_trustworthy());
}

#[test]
fn a_target_ten_percent_dearer_is_found_and_its_interval_holds_the_truth() {
    let results = fixed_rate(2, 12, CALM, &[("other", RUST.times(1.10))]);
    let found = ratio(&Analysis::of(&results), "other", Metric::P50);
    assert_eq!(found.finding, Finding::Verdict(Verdict::Worse));
    let interval = found.measured.unwrap().interval;
    assert!(interval.contains(1.10), "{interval:?}");
}

#[test]
fn the_intervals_of_a_family_are_widened_so_that_it_keeps_its_promise_as_a_whole() {
    let results = fixed_rate(2, 12, CALM, &[("other", RUST.times(1.10))]);
    let analysis = Analysis::of(&results);
    let judged = [Metric::P50, Metric::CpuPerRequest, Metric::PeakMemory];
    let mut levels = judged.map(|metric| {
        ratio(&analysis, "other", metric)
            .measured
            .unwrap()
            .interval
            .level
    });
    levels.sort_by(f64::total_cmp);
    let expected = [0.95, 0.975, 1.0 - 0.05 / 3.0];
    assert!(
        levels
            .iter()
            .zip(expected)
            .all(|(got, want)| (got - want).abs() < 1e-12),
        "{levels:?}"
    );
}

#[test]
fn drift_that_is_common_to_a_block_does_not_blur_the_comparison() {
    // Over the run everything becomes twice as slow; a comparison that ignored blocks would drown in it.
    let weather = Weather {
        noise: 0.01,
        drift: 0.05,
    };
    let results = fixed_rate(3, 20, weather, &[("other", RUST.times(1.08))]);
    let found = ratio(&Analysis::of(&results), "other", Metric::P50);
    let interval = found.measured.unwrap().interval;
    assert_eq!(found.finding, Finding::Verdict(Verdict::Worse));
    assert!(interval.high / interval.low < 1.03, "{interval:?}");
}

#[test]
fn noise_beyond_the_band_is_inconclusive() {
    let results = fixed_rate(
        4,
        10,
        Weather {
            noise: 0.3,
            drift: 0.0,
        },
        &[("other", RUST)],
    );
    assert_eq!(
        verdict(&results, Metric::P50),
        Finding::Verdict(Verdict::Inconclusive)
    );
}

#[test]
fn nine_blocks_give_a_ratio_but_no_verdict_and_tails_need_thirty() {
    let results = fixed_rate(5, 9, CALM, &[("other", RUST.times(2.0))]);
    let found = ratio(&Analysis::of(&results), "other", Metric::P50);
    assert!((found.measured.unwrap().ratio / 2.0 - 1.0).abs() < 0.05);
    assert_eq!(
        found.finding,
        Finding::Withheld("9 of the 10 blocks that a verdict needs".into())
    );

    let results = fixed_rate(5, 29, CALM, &[("other", RUST.times(2.0))]);
    let because = Finding::Withheld("29 of the 30 blocks that a verdict needs".into());
    assert_eq!(verdict(&results, Metric::P99), because);
    let results = fixed_rate(5, 30, CALM, &[("other", RUST.times(2.0))]);
    assert_eq!(
        verdict(&results, Metric::P99),
        Finding::Verdict(Verdict::Worse)
    );
}

#[test]
fn an_unequal_twin_makes_the_run_not_trustworthy() {
    let mut results = fixed_rate(6, 12, CALM, &[("other", RUST)]);
    for trial in results
        .trials
        .iter_mut()
        .filter(|trial| trial.target == "native-rust-twin")
    {
        let server = trial.figures.as_mut().unwrap().server.as_mut().unwrap();
        server.cpu_seconds = server.cpu_seconds.map(|seconds| seconds * 1.2);
    }
    let trust = Analysis::of(&results).trust;
    let metrics = vec!["CPU per request of hello (fixed-rate)".to_string()];
    assert_eq!(trust.control, Control::Disagrees { metrics });
    assert!(!trust.is_trustworthy());
}

#[test]
fn the_control_disagrees_by_chance_in_about_five_of_a_hundred_runs() {
    // The spec's plain percentile interval would disagree in about 18 of 100 here (three intervals, ten blocks).
    let disagrees = |seed: &u64| {
        let results = fixed_rate(
            *seed,
            10,
            Weather {
                noise: 0.05,
                drift: 0.01,
            },
            &[],
        );
        matches!(
            Analysis::of(&results).trust.control,
            Control::Disagrees { .. }
        )
    };
    let runs = 300;
    let wrong = (1000..1000 + runs).filter(disagrees).count();
    // scipy.stats.binom.interval(0.9998, 300, .05) = (3, 31)
    assert!((3..=31).contains(&wrong), "{wrong} of {runs}");
}

#[test]
fn the_same_results_give_the_same_intervals() {
    let results = fixed_rate(7, 12, CALM, &[("other", RUST.times(1.05))]);
    let once = format!("{:?}", Analysis::of(&results).ratios);
    assert_eq!(once, format!("{:?}", Analysis::of(&results).ratios));
}

#[test]
fn void_and_failed_trials_enter_no_ratio() {
    let mut results = fixed_rate(8, 12, CALM, &[("other", RUST)]);
    for trial in results
        .trials
        .iter_mut()
        .filter(|t| t.target == "other" && t.block < 2)
    {
        let latency = trial.figures.as_mut().unwrap().latency.as_mut().unwrap();
        latency
            .quantiles
            .iter_mut()
            .for_each(|quantile| quantile.ms *= 1000.0);
        trial.outcome = match trial.block {
            0 => Outcome::Void {
                why: "foreign load".into(),
            },
            _ => Outcome::Failed { why: "died".into() },
        };
    }
    let analysis = Analysis::of(&results);
    let found = ratio(&analysis, "other", Metric::P50);
    assert_eq!(found.blocks, 10);
    assert!((found.measured.unwrap().ratio - 1.0).abs() < 0.03);
    assert_eq!((analysis.trust.void, analysis.trust.failed), (1, 1));
}

#[test]
fn no_ratio_without_ground_for_it() {
    let fresh = || fixed_rate(9, 12, CALM, &[("other", RUST)]);
    let refused = |change: fn(&mut Results), because: &str| {
        let mut results = fresh();
        change(&mut results);
        let found = ratio(&Analysis::of(&results), "other", Metric::P50);
        assert!(found.measured.is_none(), "{because}");
        let Finding::Withheld(why) = found.finding else {
            panic!("{because}")
        };
        assert!(why.contains(because), "{why}");
    };
    refused(
        |results| results.plan.mode = Mode::Quick,
        "a quick run publishes no ratio",
    );
    refused(
        |results| results.contract.retain(|check| check.target != "other"),
        "not checked",
    );
    refused(
        |results| {
            let wrong = CaseOutcome::Fail {
                difference: "status".into(),
            };
            results.contract[2].cases[1].outcome = wrong;
        },
        "other failed 1 of 3 contract cases",
    );
    refused(
        |results| results.targets[2].managed = false,
        "not started by the lab",
    );
    refused(
        |results| results.targets[2].missing = Some("no go".into()),
        "did not run: no go",
    );
}

#[test]
fn a_target_of_no_contract_is_compared_by_its_scenarios_own_check() {
    let mut results = fixed_rate(9, 12, CALM, &[("other", RUST)]);
    results.contract.clear();
    for target in &mut results.targets {
        target.contract = false;
    }
    let analysis = Analysis::of(&results);
    let found = ratio(&analysis, "other", Metric::P50);
    assert!(found.measured.is_some(), "{found:?}");
    assert!(analysis.trust.is_trustworthy(), "{:?}", analysis.trust);
}

#[test]
fn headers_of_another_size_are_said_beside_the_ratio() {
    let mut results = fixed_rate(9, 12, CALM, &[("other", RUST)]);
    let others = results
        .trials
        .iter_mut()
        .filter(|trial| trial.target == "other");
    for figures in others.filter_map(|trial| trial.figures.as_mut()) {
        figures.bytes_received = figures.bytes_received.map(|bytes| bytes * 102 / 100);
    }
    let found = ratio(&Analysis::of(&results), "other", Metric::P50);
    let said: Vec<String> = found.labels.iter().map(ToString::to_string).collect();
    assert!(
        found.measured.is_some() && said[0].contains("157 bytes against 154"),
        "{said:?}"
    );
}

#[test]
fn a_latency_near_the_generators_own_is_labelled() {
    let mut results = fixed_rate(10, 12, CALM, &[("other", RUST.times(3.0))]);
    let mut calibration = synthetic::house(1).calibrations.remove(0);
    calibration
        .latency
        .quantiles
        .iter_mut()
        .for_each(|quantile| quantile.ms *= 2.5);
    results.calibrations.push(calibration);
    let found = ratio(&Analysis::of(&results), "other", Metric::P50);
    assert!(
        matches!(&found.labels[..], [Label::InstrumentLimit { target, .. }] if target == "native-rust"),
        "{:?}",
        found.labels
    );
}
