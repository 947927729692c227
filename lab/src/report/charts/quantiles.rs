//! Quantile curves: the whole distribution of latency, tail stretched out, one line a target.

use super::{Chart, Drawn, Frame, anchor, ran, series};
use crate::analysis::counted;
use crate::metric::Metric;
use crate::report::Report;
use crate::report::format;
use crate::report::svg::{Anchor, Scale, Svg, colour, spread};
use crate::report::table::Table;
use crate::results::{Profile, ProfileKind, Scenario};
use crate::stats::pooled::{Curve, Pool};
use crate::stats::quantile;

const SHOWN: [f64; 33] = [
    0.01, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8,
    0.85, 0.9, 0.92, 0.94, 0.95, 0.96, 0.97, 0.98, 0.985, 0.99, 0.993, 0.995, 0.996, 0.997, 0.998,
    0.999,
];
const LABELLED: [f64; 6] = [0.01, 0.5, 0.9, 0.95, 0.99, 0.999];

/// A target's curve over all its counted trials, and the range of the single trials around it.
struct Line<'a> {
    target: &'a str,
    requests: u64,
    points: Vec<(f64, f64)>,
    envelope: Vec<(f64, f64, f64)>,
}

pub fn draw(report: &Report) -> Drawn {
    let mut charts = Vec::new();
    for profile in &report.results.plan.profiles {
        if matches!(profile.kind, ProfileKind::FixedRate | ProfileKind::Soak) {
            charts.extend(
                profile
                    .scenarios
                    .iter()
                    .filter_map(|s| one(report, profile, s)),
            );
        }
    }
    if charts.is_empty() {
        return Err("no fixed-rate trial counted in this run".into());
    }
    Ok(charts)
}

fn line<'a>(
    report: &'a Report,
    profile: &Profile,
    scenario: &Scenario,
    target: &'a str,
) -> Option<Line<'a>> {
    let curves: Vec<Curve> = counted(report.results, &profile.name, &scenario.name, &[target])
        .into_iter()
        .filter_map(|trial| trial.figures.as_ref()?.latency.as_ref())
        .filter(|latency| latency.n > 0 && latency.min_ms > 0.0)
        .map(|latency| latency.curve())
        .collect();
    let requests = curves.iter().map(Curve::n).sum::<f64>() as u64;
    let all: Vec<usize> = (0..curves.len()).collect();
    let pool = Pool::new(&curves.iter().collect::<Vec<_>>())?;
    let carried = || {
        SHOWN
            .into_iter()
            .filter(|&p| quantile::carries(requests, p))
    };
    let around = |p: f64| {
        let values = || curves.iter().map(|curve| curve.quantile(p));
        (
            p,
            values().fold(f64::INFINITY, f64::min),
            values().fold(0.0, f64::max),
        )
    };
    Some(Line {
        target,
        requests,
        points: carried().map(|p| (p, pool.quantile(&all, p))).collect(),
        envelope: if curves.len() > 1 {
            carried().map(around).collect()
        } else {
            vec![]
        },
    })
}

fn one(report: &Report, profile: &Profile, scenario: &Scenario) -> Option<Chart> {
    let results = report.results;
    let lines: Vec<Line> = ran(results)
        .filter_map(|target| line(report, profile, scenario, &target.name))
        .filter(|line| !line.points.is_empty())
        .collect();
    let floor = results
        .calibrations
        .iter()
        .filter(|calibration| calibration.profile == profile.name)
        .find(|c| {
            c.scenario
                .as_deref()
                .is_none_or(|name| name == scenario.name)
        })
        .filter(|calibration| calibration.latency.min_ms > 0.0);
    let floor: Vec<(f64, f64)> = floor.map_or(vec![], |calibration| {
        let latency = &calibration.latency;
        SHOWN
            .into_iter()
            .filter_map(|p| Some((p, latency.percentile(p)?)))
            .collect()
    });

    let values = || {
        lines
            .iter()
            .flat_map(|line| &line.points)
            .chain(&floor)
            .map(|point| point.1)
    };
    let low = values().reduce(f64::min)? / 1.1;
    let high = values().reduce(f64::max)? * 1.1;
    let last = lines
        .iter()
        .filter_map(|line| line.points.last())
        .map(|p| p.0)
        .reduce(f64::max)?;
    let frame = Frame {
        left: 58.0,
        right: 690.0,
        top: 30.0,
        bottom: 350.0,
    };
    let nines = |p: f64| -(1.0 - p).log10();
    let x = Scale::linear((0.0, nines(last.max(0.9))), (frame.left, frame.right));
    let y = Scale::logarithmic((low, high), (frame.bottom, frame.top));

    let mut svg = Svg::new(860.0, 392.0);
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
    svg.text(
        frame.right,
        frame.bottom + 35.0,
        Anchor::End,
        "axis",
        "share of requests at or below, each nine as wide as the last",
    );
    if let (Some(first), Some(end)) = (floor.first(), floor.last()) {
        let mut area: Vec<(f64, f64)> = floor
            .iter()
            .map(|&(p, ms)| (x.at(nines(p)), y.at(ms)))
            .collect();
        area.push((x.at(nines(end.0)), frame.bottom));
        area.push((x.at(nines(first.0)), frame.bottom));
        svg.path(&area, true, "floor");
        svg.text(
            frame.left + 8.0,
            frame.bottom - 8.0,
            Anchor::Start,
            "tick",
            "the generator's own",
        );
    }
    for line in &lines {
        let place = |p: f64, ms: f64| (x.at(nines(p)), y.at(ms.clamp(low, high)));
        let below = line.envelope.iter().map(|&(p, least, _)| place(p, least));
        let above = line
            .envelope
            .iter()
            .rev()
            .map(|&(p, _, most)| place(p, most));
        let area: Vec<(f64, f64)> = below.chain(above).collect();
        if !area.is_empty() {
            svg.path(
                &area,
                true,
                &format!("envelope {}", colour(series(results, line.target))),
            );
        }
    }
    let ends: Vec<f64> = lines
        .iter()
        .map(|line| y.at(line.points[line.points.len() - 1].1))
        .collect();
    let labels = spread(&ends, 17.0, frame.top, frame.bottom);
    for (line, label) in lines.iter().zip(labels) {
        let number = series(results, line.target);
        let points: Vec<(f64, f64)> = line
            .points
            .iter()
            .map(|&(p, ms)| (x.at(nines(p)), y.at(ms)))
            .collect();
        let twin = results.targets[number].twin_of.is_some();
        let class = format!(
            "curve {}{}",
            colour(number),
            if twin { " twin" } else { "" }
        );
        svg.path(&points, false, &class);
        for (&(p, _), &at) in line.points.iter().zip(&points) {
            if [0.5, 0.9, 0.99].contains(&p) {
                svg.marker(number, at, false);
            }
        }
        let end = points[points.len() - 1];
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

    let offered = scenario.rate.map_or(String::new(), |rate| {
        format!(" at {} requests per second", format::plain(rate))
    });
    let mut table = Table::new(
        format!(
            "Latency in ms, {}{offered}; percentiles that the sample carries",
            scenario.request
        ),
        &[
            "target",
            "#requests",
            "#p50",
            "#p90",
            "#p95",
            "#p99",
            "#p99.9",
            "labels",
        ],
    );
    for line in &lines {
        let at = |wanted: f64| {
            let found = line.points.iter().find(|(p, _)| *p == wanted);
            found.map_or(
                format!("n = {}", format::count(line.requests)),
                |(_, ms)| format::number(*ms),
            )
        };
        let labels: Vec<String> = [Metric::P50, Metric::P99]
            .into_iter()
            .filter_map(|m| {
                Some((
                    m,
                    crate::analysis::Label::of_target(
                        results,
                        profile,
                        &scenario.name,
                        line.target,
                        m,
                    )?,
                ))
            })
            .map(|(metric, label)| format!("{}: {label}", metric.title()))
            .collect();
        table.row(vec![
            line.target.into(),
            format::count(line.requests),
            at(0.5),
            at(0.9),
            at(0.95),
            at(0.99),
            at(0.999),
            labels.join("; "),
        ]);
    }
    let grey = if floor.is_empty() {
        "No calibration of the generator is in this run."
    } else {
        "Grey: what the generator reads from a server that does nothing; latency near it is the instrument's."
    };
    Some(Chart::new(
        anchor(&["quantiles", &profile.name, &scenario.name]),
        format!("Latency of {}{offered}", scenario.request),
        format!("All counted trials pooled; the tint is the range of single trials. {grey}"),
        svg,
        table.without_empty_columns(),
    ))
}
