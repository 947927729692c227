//! One sampled trial, second by second. Its latencies are not scored: sampling costs the generator CPU.

use super::{Chart, Drawn, Frame, anchor};
use crate::report::Report;
use crate::report::format;
use crate::report::svg::{Anchor, Scale, Svg};
use crate::report::table::Table;
use crate::results::{Second, Trial};

const LANE: f64 = 92.0;

pub fn draw(report: &Report) -> Drawn {
    let charts: Vec<Chart> = report.results.trials.iter().filter_map(one).collect();
    if charts.is_empty() {
        Err("no trial was sampled second by second".into())
    } else {
        Ok(charts)
    }
}

/// What a lane shows of each second.
type Reading = fn(&Second) -> Option<f64>;

fn one(trial: &Trial) -> Option<Chart> {
    let seconds = &trial.figures.as_ref()?.timeline;
    let end = seconds.last()?.second;
    let lanes: [(&str, Reading); 4] = [
        ("answers per second", |second| Some(second.rate)),
        ("p99, ms", |second| second.p99_ms),
        ("server CPU, % of a core", |second| {
            Some(second.cpu? * 100.0)
        }),
        ("server memory, MB", |second| {
            Some(second.rss_bytes? as f64 / 1e6)
        }),
    ];
    let drawn: Vec<(&str, Vec<(f64, f64)>)> = lanes
        .into_iter()
        .map(|(name, pick)| {
            let points = seconds
                .iter()
                .filter_map(|s| Some((f64::from(s.second), pick(s)?)));
            (name, points.collect())
        })
        .filter(|(_, points): &(_, Vec<_>)| points.len() > 1)
        .collect();
    let height = 24.0 + LANE * drawn.len() as f64;
    let mut svg = Svg::new(860.0, height + 34.0);
    for (i, (name, points)) in drawn.iter().enumerate() {
        let top = 24.0 + LANE * i as f64;
        let frame = Frame {
            left: 58.0,
            right: 850.0,
            top,
            bottom: top + LANE - 30.0,
        };
        let most = points.iter().map(|point| point.1).fold(0.0, f64::max);
        let x = Scale::linear((0.0, f64::from(end)), (frame.left, frame.right));
        let y = Scale::linear((0.0, most * 1.1), (frame.bottom, frame.top));
        for value in y.ticks(2) {
            svg.line(
                (frame.left, y.at(value)),
                (frame.right, y.at(value)),
                "grid",
            );
            svg.text(
                frame.left - 8.0,
                y.at(value) + 4.0,
                Anchor::End,
                "tick",
                &format::plain(value),
            );
        }
        svg.text(frame.left, top - 7.0, Anchor::Start, "axis", name);
        let placed: Vec<(f64, f64)> = points.iter().map(|&(s, v)| (x.at(s), y.at(v))).collect();
        svg.path(&placed, false, "curve s0");
        if i + 1 == drawn.len() {
            for value in x.ticks(8) {
                svg.text(
                    x.at(value),
                    frame.bottom + 17.0,
                    Anchor::Middle,
                    "tick",
                    &format::plain(value),
                );
            }
            svg.text(
                frame.right,
                frame.bottom + 34.0,
                Anchor::End,
                "axis",
                "seconds",
            );
        }
    }
    let mut table = Table::new(
        format!(
            "{}, {} of {}, second by second",
            trial.target, trial.scenario, trial.profile
        ),
        &["second", "#rate", "#p50 ms", "#p99 ms", "#CPU", "#memory"],
    );
    for second in seconds {
        let shown = |value: Option<f64>| value.map_or(String::new(), format::number);
        table.row(vec![
            second.second.to_string(),
            format::number(second.rate),
            shown(second.p50_ms),
            shown(second.p99_ms),
            second.cpu.map_or(String::new(), format::share),
            second.rss_bytes.map_or(String::new(), format::megabytes),
        ]);
    }
    Some(Chart::new(
        anchor(&["timeline", &trial.sequence.to_string()]),
        format!("{} on {}, second by second", trial.target, trial.scenario),
        "A sampled trial: sampling costs the generator CPU, so its latencies are shown here and scored nowhere.".into(),
        svg,
        table.without_empty_columns(),
    ))
}
