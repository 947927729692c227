//! Quantile curves: the whole distribution of latency, tail stretched out, one line a target.

use super::{Chart, Drawn, Frame, anchor, ran, series};
use crate::analysis::{Label, counted};
use crate::metric::Metric;
use crate::report::Report;
use crate::report::format;
use crate::report::svg::{Anchor, Scale, Svg, colour, spread};
use crate::report::table::Table;
use crate::results::{Profile, ProfileKind, Results, Scenario};
use crate::stats::pooled::{Curve, Pool};
use crate::stats::quantile::carries;

const SHOWN: [f64; 33] = [
    0.01, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8,
    0.85, 0.9, 0.92, 0.94, 0.95, 0.96, 0.97, 0.98, 0.985, 0.99, 0.993, 0.995, 0.996, 0.997, 0.998,
    0.999,
];
const LABELLED: [f64; 6] = [0.01, 0.5, 0.9, 0.95, 0.99, 0.999];

/// A target's latencies over all its counted trials.
struct Line<'a> {
    target: &'a str,
    requests: u64,
    errors: u64,
    /// (p, ms) of all requests pooled, as far as they carry it.
    points: Vec<(f64, f64)>,
    /// (p, least, most) of the single trials, as far as each of them carries it.
    envelope: Vec<(f64, f64, f64)>,
    labels: Vec<String>,
}

pub fn draw(report: &Report) -> Drawn {
    let mut charts = Vec::new();
    for profile in &report.results.plan.profiles {
        if matches!(profile.kind, ProfileKind::FixedRate | ProfileKind::Soak) {
            let scenarios = profile.scenarios.iter();
            charts.extend(scenarios.filter_map(|scenario| one(report, profile, scenario)));
        }
    }
    match charts.is_empty() {
        true => Err("no fixed-rate trial counted in this run".into()),
        false => Ok(charts),
    }
}

fn one(report: &Report, profile: &Profile, scenario: &Scenario) -> Option<Chart> {
    let lines: Vec<Line> = ran(report.results)
        .filter_map(|target| Line::of(report.results, profile, scenario, &target.name))
        .filter(|line| !line.points.is_empty())
        .collect();
    let floor = floor(report.results, profile, scenario);
    let svg = plot(report.results, &lines, &floor)?;
    let offered = scenario.rate.map_or(String::new(), |rate| {
        format!(" at {} requests per second", format::plain(rate))
    });
    let grey = match floor.is_empty() {
        true => "No calibration of the generator is in this run.",
        false => {
            "Grey: what the generator reads from a server that does nothing; latency near it is \
             the instrument's."
        }
    };
    Some(Chart::new(
        anchor(&["quantiles", &profile.name, &scenario.name]),
        format!("Latency of {}{offered}", scenario.request),
        format!("All counted trials pooled; the tint is the range of single trials. {grey}"),
        svg,
        table(
            &lines,
            &format!("Latency in ms, {}{offered}", scenario.request),
        ),
    ))
}

impl<'a> Line<'a> {
    fn of(
        results: &Results,
        profile: &Profile,
        scenario: &Scenario,
        target: &'a str,
    ) -> Option<Line<'a>> {
        let trials = counted(results, &profile.name, &scenario.name, &[target]);
        let figures = || trials.iter().filter_map(|trial| trial.figures.as_ref());
        let latencies = || figures().filter_map(|figures| figures.latency.as_ref());
        let curves: Vec<Curve> = latencies()
            .filter(|latency| latency.n > 0 && latency.min_ms > 0.0)
            .map(|latency| latency.curve())
            .collect();
        let pool = Pool::new(&curves.iter().collect::<Vec<_>>())?;
        let all: Vec<usize> = (0..curves.len()).collect();
        let requests = latencies().map(|latency| latency.n).sum();
        let fewest = latencies().map(|latency| latency.n).min()?;
        let around = |p: f64| {
            let values = || curves.iter().map(|curve| curve.quantile(p));
            (
                p,
                values().fold(f64::INFINITY, f64::min),
                values().fold(0.0, f64::max),
            )
        };
        let mut labels: Vec<String> = [Metric::P50, Metric::P99]
            .into_iter()
            .filter_map(|metric| {
                let label = Label::of_target(results, profile, &scenario.name, target, metric)?;
                Some(format!("{}: {label}", metric.title()))
            })
            .collect();
        let carried = |n: u64| SHOWN.into_iter().filter(move |&p| carries(n, p));
        let errors = figures().flat_map(|figures| figures.errors.values()).sum();
        labels.extend(Label::gates(trials.clone()).iter().map(ToString::to_string));
        Some(Line {
            target,
            requests,
            errors,
            points: carried(requests)
                .map(|p| (p, pool.quantile(&all, p)))
                .collect(),
            envelope: carried(fewest)
                .filter(|_| curves.len() > 1)
                .map(around)
                .collect(),
            labels,
        })
    }
}

/// The generator's own curve, as far as its sample carries it; empty without a calibration.
fn floor(results: &Results, profile: &Profile, scenario: &Scenario) -> Vec<(f64, f64)> {
    let fits = |name: &Option<String>| name.as_ref().is_none_or(|name| *name == scenario.name);
    let calibration = results
        .calibrations
        .iter()
        .find(|one| one.profile == profile.name && fits(&one.scenario))
        .filter(|one| one.latency.min_ms > 0.0);
    let Some(calibration) = calibration else {
        return Vec::new();
    };
    let at = |p: f64| Some((p, calibration.latency.percentile(p)?));
    SHOWN.into_iter().filter_map(at).collect()
}

/// Where a share of requests lies on the axis: each nine as wide as the last.
fn nines(p: f64) -> f64 {
    -(1.0 - p).log10()
}

fn plot(results: &Results, lines: &[Line], floor: &[(f64, f64)]) -> Option<Svg> {
    let drawn = || lines.iter().flat_map(|line| &line.points);
    let values = || drawn().chain(floor).map(|point| point.1);
    let low = values().reduce(f64::min)? / 1.1;
    let high = values().reduce(f64::max)? * 1.1;
    let last = drawn().map(|point| point.0).reduce(f64::max)?;
    let frame = Frame {
        left: 58.0,
        right: 690.0,
        top: 30.0,
        bottom: 350.0,
    };
    let x = Scale::linear((0.0, nines(last.max(0.9))), (frame.left, frame.right));
    let y = Scale::logarithmic((low, high), (frame.bottom, frame.top));
    let place = |p: f64, ms: f64| (x.at(nines(p)), y.at(ms.clamp(low, high)));

    let mut svg = Svg::new(860.0, 392.0);
    if let (Some(first), Some(end)) = (floor.first(), floor.last()) {
        let mut area: Vec<(f64, f64)> = floor.iter().map(|&(p, ms)| place(p, ms)).collect();
        area.extend([place(end.0, low), place(first.0, low)]);
        svg.path(&area, true, "floor");
        let (left, bottom) = (frame.left + 8.0, frame.bottom - 8.0);
        svg.text(left, bottom, Anchor::Start, "tick", "the generator's own");
    }
    frame.vertical_axis(&mut svg, &y, "ms, log");
    for p in LABELLED.into_iter().filter(|&p| p <= last) {
        let at = x.at(nines(p));
        svg.line((at, frame.top), (at, frame.bottom), "grid");
        svg.text(
            at,
            frame.bottom + 17.0,
            Anchor::Middle,
            "tick",
            &format::percentile(p),
        );
    }
    let share = "share of requests at or below, each nine as wide as the last";
    svg.text(frame.right, frame.bottom + 35.0, Anchor::End, "axis", share);
    for line in lines.iter().filter(|line| !line.envelope.is_empty()) {
        let below = line.envelope.iter().map(|&(p, least, _)| place(p, least));
        let above = line
            .envelope
            .iter()
            .rev()
            .map(|&(p, _, most)| place(p, most));
        let area: Vec<(f64, f64)> = below.chain(above).collect();
        svg.path(
            &area,
            true,
            &format!("envelope {}", colour(series(results, line.target))),
        );
    }
    let curves: Vec<Vec<(f64, f64)>> = lines
        .iter()
        .map(|line| line.points.iter().map(|&(p, ms)| place(p, ms)).collect())
        .collect();
    let ends: Vec<(f64, f64)> = curves
        .iter()
        .filter_map(|curve| curve.last().copied())
        .collect();
    let heights: Vec<f64> = ends.iter().map(|end| end.1).collect();
    let labels = spread(&heights, 17.0, frame.top, frame.bottom);
    for (((line, curve), end), label) in lines.iter().zip(&curves).zip(ends).zip(labels) {
        let number = series(results, line.target);
        let twin = results
            .targets
            .get(number)
            .is_some_and(|target| target.twin_of.is_some());
        let twin = if twin { " twin" } else { "" };
        svg.path(curve, false, &format!("curve {}{twin}", colour(number)));
        for (point, &at) in line.points.iter().zip(curve) {
            if [0.5, 0.9, 0.99].contains(&point.0) {
                svg.marker(number, at, false);
            }
        }
        svg.line((end.0 + 3.0, end.1), (frame.right + 22.0, label), "leader");
        svg.marker(number, (frame.right + 28.0, label), false);
        svg.text(
            frame.right + 38.0,
            label + 4.0,
            Anchor::Start,
            "label",
            line.target,
        );
    }
    Some(svg)
}

fn table(lines: &[Line], what: &str) -> Table {
    let percentiles = [0.5, 0.9, 0.95, 0.99, 0.999];
    let mut table = Table::new(
        format!("{what}; a percentile that the sample cannot carry shows its n"),
        &[
            "target",
            "#requests",
            "#errors",
            "#p50",
            "#p90",
            "#p95",
            "#p99",
            "#p99.9",
            "labels",
        ],
    );
    for line in lines {
        let at = |wanted: f64| {
            let found = line.points.iter().find(|(p, _)| *p == wanted);
            match found {
                Some((_, ms)) => format::number(*ms),
                None => format!("n = {}", format::count(line.requests)),
            }
        };
        let mut row = vec![line.target.to_owned()];
        row.extend([format::count(line.requests), format::count(line.errors)]);
        row.extend(percentiles.map(at));
        row.push(line.labels.join("; "));
        table.row(row);
    }
    table.without_empty_columns()
}
