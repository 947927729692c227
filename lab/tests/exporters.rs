//! Every format of the report, on the same runs: nothing may be lost, invented or broken in any of them.

#[allow(dead_code)] // shared with the other tests, which use the rest
mod synthetic;

use lab::report::{EXPORTERS, Report};
use lab::results::{Outcome, Results};
use synthetic::{CALM, RUST, empty, fixed_rate, house};

fn export(results: &Results, file: &str) -> String {
    let exporter = EXPORTERS
        .into_iter()
        .find(|exporter| exporter.file_name() == file)
        .unwrap();
    exporter.export(&Report::of(results)).unwrap()
}

#[test]
fn every_format_is_the_same_when_rendered_again() {
    let results = house(6);
    for exporter in EXPORTERS {
        let once = exporter.export(&Report::of(&results)).unwrap();
        assert!(
            once == exporter.export(&Report::of(&results)).unwrap(),
            "{}",
            exporter.file_name()
        );
    }
}

#[test]
fn no_format_fails_on_a_run_that_measured_nothing() {
    for results in [empty(1), fixed_rate(1, 0, CALM, &[("other", RUST)])] {
        for exporter in EXPORTERS {
            let text = exporter.export(&Report::of(&results)).unwrap();
            let text = text.replace("isNaN", "");
            assert!(!text.contains("NaN"), "{}", exporter.file_name());
        }
    }
}

#[test]
fn a_chart_without_data_is_not_drawn_and_the_report_says_why() {
    let html = export(&fixed_rate(1, 12, CALM, &[("other", RUST)]), "report.html");
    assert!(html.contains("Not drawn: the capacity profile was not part of this run."));
    assert!(html.contains("Not drawn: no trial was sampled second by second."));
    assert!(!html.contains("ladder-"));
    assert!(html.contains("id=\"quantiles-fixed-rate-hello\""));
}

#[test]
fn the_page_asks_for_nothing_from_anywhere_and_stays_below_400_kb() {
    let html = export(&house(6), "report.html");
    assert!(html.len() < 400_000, "{} bytes", html.len());
    for fetching in ["src=", "href=\"http", "href=\"//", "@import", "url("] {
        assert!(!html.contains(fetching), "{fetching}");
    }
}

#[test]
fn three_times_as_many_trials_stay_below_400_kb_too_and_the_page_says_what_it_left_to_the_csv() {
    let mut results = house(6);
    for more in [house(7), house(8)] {
        results.trials.extend(more.trials);
    }
    let html = export(&results, "report.html");
    assert!(html.len() < 400_000, "{} bytes", html.len());
    assert!(html.contains("This page itself carries the first 800 of 2,298."));
    assert_eq!(export(&results, "trials.csv").lines().count(), 2299);
}

#[test]
fn ids_on_the_page_are_unique_and_links_inside_it_lead_somewhere() {
    let html = export(&house(6), "report.html");
    let mut ids: Vec<&str> = html
        .split(" id=\"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .collect();
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all);
    for link in html
        .split("href=\"#")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
    {
        assert!(ids.contains(&link), "{link}");
    }
}

#[test]
fn words_of_a_run_cannot_become_markup_in_the_page() {
    let mut results = fixed_rate(1, 12, CALM, &[("other", RUST)]);
    let evil = "</script><img src=x onerror=alert(1)>";
    results.environment.cautions.push(evil.into());
    results.targets[0].missing = Some(evil.into());
    results.trials[0].outcome = Outcome::Void { why: evil.into() };
    let html = export(&results, "report.html");
    // Inside the data block nothing is markup, as long as nothing ends it.
    let (before, rest) = html.split_once("<script type=\"text/csv\"").unwrap();
    let (_, after) = rest.split_once("</script>").unwrap();
    assert!(
        !before.contains("<img") && !after.contains("<img"),
        "markup got through"
    );
    assert_eq!(
        html.matches("</script>").count(),
        2,
        "a data block was ended early"
    );
}

#[test]
fn an_unpublished_ratio_is_in_no_format() {
    let mut results = fixed_rate(1, 12, CALM, &[("other", RUST.times(1.7))]);
    assert!(export(&results, "report.md").contains("1.70×"));
    results.contract.clear();
    for exporter in EXPORTERS {
        let text = exporter.export(&Report::of(&results)).unwrap();
        assert!(!text.contains("1.70"), "{}", exporter.file_name());
    }
    assert!(export(&results, "report.md").contains("was not checked against the contract"));
}

#[test]
fn the_csv_has_a_line_for_every_trial_and_the_reason_of_each_void_one() {
    let results = house(6);
    let csv = export(&results, "trials.csv");
    assert_eq!(csv.lines().count(), 1 + results.trials.len());
    let void: Vec<&str> = csv.lines().filter(|line| line.contains(",void,")).collect();
    assert_eq!(void.len(), 1);
    assert!(
        void[0].contains("\"foreign load: 41 % of a core, limit 10 %\""),
        "{}",
        void[0]
    );
    let columns = csv.lines().next().unwrap().split(',').count();
    let first = csv.lines().nth(1).unwrap().split(',').count();
    assert_eq!(first, columns);
}

#[test]
fn the_originals_mark_the_columns_that_their_sample_cannot_carry_with_its_n() {
    let markdown = export(&house(6), "report.md");
    let table = markdown
        .split("GET /users/1 at 10 requests per second")
        .nth(1)
        .unwrap();
    let row = table
        .lines()
        .find(|line| line.starts_with("| native-rust |"))
        .unwrap();
    // 100 requests carry p50 and not p95; the columns are min, avg, med, max, p50, p95, p99.
    assert_eq!(row.matches("n = 100").count(), 2, "{row}");
    let closed = markdown
        .split("GET /api/values/5, closed loop, 125 connections")
        .nth(1)
        .unwrap();
    assert!(closed.contains("scaled down: 50,000 of 5,000,000 requests"));
    let row = closed
        .lines()
        .find(|line| line.starts_with("| native-rust |"))
        .unwrap();
    assert!(
        row.contains("2xx 50,000") && row.contains("| 400 |"),
        "{row}"
    );
}

#[test]
fn benchers_json_is_a_map_of_benchmarks_to_measures_with_ordered_bounds() {
    let json: serde_json::Value = serde_json::from_str(&export(&house(6), "bencher.json")).unwrap();
    let benchmarks = json.as_object().unwrap();
    assert!(benchmarks.contains_key("cold-start/hello/component"));
    for measure in benchmarks
        .values()
        .flat_map(|measures| measures.as_object().unwrap().values())
    {
        let field = |name: &str| measure[name].as_f64().unwrap();
        assert!(field("lower_value") <= field("value") && field("value") <= field("upper_value"));
    }
}
