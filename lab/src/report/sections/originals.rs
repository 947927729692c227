//! The two tables that this lab descends from, in their published shape.
//!
//! After ArturMarekNowak/DotnetGoRustBenchmark (k6, constant arrival rate) and kataras/iris `_benchmarks` of 2017
//! (bombardier, 125 connections).

use crate::analysis::{Label, counted};
use crate::report::Report;
use crate::report::document::{Block, Section};
use crate::report::format::{self, count, megabytes, number};
use crate::report::table::Table;
use crate::results::{Figures, Latency, Profile, ProfileKind, Scenario, Target, Trial};
use crate::stats::quantile::carries;

pub fn section(report: &Report) -> Section {
    let mut blocks = Vec::new();
    for profile in &report.results.plan.profiles {
        for scenario in &profile.scenarios {
            let table = match profile.kind {
                ProfileKind::OriginalK6 => k6(report, profile, scenario),
                ProfileKind::OriginalClosed => closed(report, profile, scenario),
                _ => continue,
            };
            if !table.is_empty() {
                blocks.push(Block::Table(table.without_empty_columns()));
            }
        }
    }
    if blocks.is_empty() {
        blocks.push(Block::Absent(
            "Not shown: neither original profile was part of this run.".into(),
        ));
    } else {
        blocks.insert(
            0,
            Block::Text(
                "The tables that this lab descends from, in the shape in which they were published, \
                 from the first counted trial of each target. They are here to be compared with the \
                 originals and are judged by nothing."
                    .into(),
            ),
        );
    }
    Section {
        id: "originals",
        heading: "As originally published",
        blocks,
    }
}

/// The first counted trial of every target that has one.
fn firsts<'a>(
    report: &'a Report,
    profile: &Profile,
    scenario: &Scenario,
) -> Vec<(&'a Target, &'a Trial, &'a Figures)> {
    let targets = report.results.targets.iter();
    let first = |target: &'a Target| {
        let trials = counted(
            report.results,
            &profile.name,
            &scenario.name,
            &[&target.name],
        );
        let trial = trials.into_iter().find(|trial| trial.figures.is_some())?;
        Some((target, trial, trial.figures.as_ref()?))
    };
    targets.filter_map(first).collect()
}

fn k6(report: &Report, profile: &Profile, scenario: &Scenario) -> Table {
    let mut table = Table::new(
        format!(
            "{} at {} requests per second for {} s, http_req_duration in ms. A column that the sample cannot carry shows its n.",
            scenario.request,
            scenario.rate.map_or("?".into(), format::plain),
            profile.seconds.map_or("?".into(), format::plain)
        ),
        &[
            "target", "#min", "#avg", "#med", "#max", "#p50", "#p95", "#p99", "#errors",
            "#dropped", "labels",
        ],
    );
    for (target, trial, figures) in firsts(report, profile, scenario) {
        let Some(latency) = &figures.latency else {
            continue;
        };
        table.row(vec![
            target.name.clone(),
            number(latency.min_ms),
            number(latency.mean_ms),
            percentile(latency, 0.5),
            number(latency.max_ms),
            percentile(latency, 0.5),
            percentile(latency, 0.95),
            percentile(latency, 0.99),
            count(figures.errors.values().sum()),
            count(figures.dropped),
            labels(report, profile, scenario, trial).join("; "),
        ]);
    }
    table
}

/// The value that the generator printed, or the size of a sample too small for it.
fn percentile(latency: &Latency, p: f64) -> String {
    if !carries(latency.n, p) {
        return format!("n = {}", count(latency.n));
    }
    latency.percentile(p).map_or(String::new(), number)
}

fn closed(report: &Report, profile: &Profile, scenario: &Scenario) -> Table {
    let scaled = profile
        .scaled
        .as_ref()
        .map_or(String::new(), |scaled| format!(" (scaled down: {scaled})"));
    let mut table = Table::new(
        format!(
            "{}, closed loop, {} connections, {} requests{scaled}. Latency in ms.",
            scenario.request,
            profile.connections.map_or("?".into(), |n| count(n.into())),
            scenario.requests.map_or("?".into(), count),
        ),
        &[
            "target",
            "#req/s avg",
            "#req/s stdev",
            "#req/s max",
            "#latency avg",
            "#latency stdev",
            "#latency max",
            "statuses",
            "#throughput",
            "#total time",
            "#memory",
            "#lines of code",
            "labels",
        ],
    );
    for (target, trial, figures) in firsts(report, profile, scenario) {
        // The load alone: a trial's own time holds start and warm-up too.
        let seconds = figures
            .rate
            .map(|rate| figures.completed as f64 / rate.mean);
        let optional = |value: Option<f64>| value.map_or(String::new(), number);
        let latency = figures.latency.as_ref();
        table.row(vec![
            target.name.clone(),
            optional(figures.rate.map(|rate| rate.mean)),
            optional(figures.rate.and_then(|rate| rate.stdev)),
            optional(figures.rate.and_then(|rate| rate.max)),
            optional(latency.map(|latency| latency.mean_ms)),
            optional(latency.and_then(|latency| latency.stdev_ms)),
            optional(latency.map(|latency| latency.max_ms)),
            statuses(figures),
            figures
                .bytes_received
                .zip(seconds)
                .map_or(String::new(), |(bytes, seconds)| {
                    format!("{}/s", megabytes((bytes as f64 / seconds) as u64))
                }),
            seconds.map_or(String::new(), |seconds| format!("{} s", number(seconds))),
            figures
                .server
                .and_then(|server| server.peak_rss_bytes)
                .map_or(String::new(), megabytes),
            target
                .lines_of_code
                .as_ref()
                .map_or(String::new(), |lines| count(lines.total)),
            labels(report, profile, scenario, trial).join("; "),
        ]);
    }
    table
}

/// What gates and calibrations say of this one trial.
fn labels(report: &Report, profile: &Profile, scenario: &Scenario, trial: &Trial) -> Vec<String> {
    let rate = trial
        .figures
        .as_ref()
        .and_then(|figures| figures.rate)
        .map(|rate| rate.mean);
    let closed = rate.filter(|_| profile.kind == ProfileKind::OriginalClosed);
    let bound = closed.and_then(|rate| {
        Label::of_rate(report.results, profile, &scenario.name, &trial.target, rate)
    });
    bound
        .into_iter()
        .chain(Label::gates(vec![trial]))
        .map(|label| label.to_string())
        .collect()
}

/// By class, as bombardier prints them: "2xx 50,000".
fn statuses(figures: &Figures) -> String {
    let mut classes = std::collections::BTreeMap::<u16, u64>::new();
    for (status, n) in &figures.statuses {
        *classes.entry(status / 100).or_default() += n;
    }
    let classes = classes
        .into_iter()
        .map(|(class, n)| format!("{class}xx {}", count(n)));
    let errors = figures
        .errors
        .iter()
        .map(|(class, n)| format!("{class} {}", format::count(*n)));
    classes.chain(errors).collect::<Vec<_>>().join(", ")
}
