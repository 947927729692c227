//! Every trial as a dot, in the order that the run took: drift and outliers cannot hide here.

use super::{Chart, Drawn, anchor, ran, series};
use crate::metric::Metric;
use crate::report::Report;
use crate::report::format;
use crate::report::svg::{Anchor, Scale, Svg, colour};
use crate::report::table::Table;
use crate::results::{Outcome, Profile, ProfileKind, Scenario, Trial};
use crate::stats::quantile::median;

const ROW: f64 = 44.0;
const TOP: f64 = 22.0;
const LEFT: f64 = 170.0;
const RIGHT: f64 = 790.0;

pub fn draw(report: &Report) -> Drawn {
    let mut charts = Vec::new();
    for profile in &report.results.plan.profiles {
        let Some(metric) = main_metric(profile.kind) else {
            continue;
        };
        charts.extend(
            profile
                .scenarios
                .iter()
                .filter_map(|s| one(report, profile, s, metric)),
        );
    }
    if charts.is_empty() {
        return Err("no target has two counted trials to set beside each other".into());
    }
    Ok(charts)
}

fn main_metric(kind: ProfileKind) -> Option<Metric> {
    match kind {
        ProfileKind::FixedRate => Some(Metric::P50),
        ProfileKind::Capacity => Some(Metric::Capacity),
        ProfileKind::ColdStart => Some(Metric::ColdStart),
        ProfileKind::Soak => Some(Metric::PeakMemory),
        ProfileKind::OriginalK6 | ProfileKind::OriginalClosed => None,
    }
}

fn one(report: &Report, profile: &Profile, scenario: &Scenario, metric: Metric) -> Option<Chart> {
    let results = report.results;
    let of_load = |trial: &&Trial| trial.profile == profile.name && trial.scenario == scenario.name;
    let trials: Vec<&Trial> = results.trials.iter().filter(of_load).collect();
    let (first, last) = (trials.first()?.sequence, trials.last()?.sequence);
    let x = Scale::linear(
        (f64::from(first), f64::from(last)),
        (LEFT + 8.0, RIGHT - 8.0),
    );
    let mut table = Table::new(
        format!(
            "{} of the trials of {}, {}",
            metric.title(),
            profile.name,
            scenario.name
        ),
        &[
            "target",
            "#trials",
            "#least",
            "#median",
            "#most",
            "#first half",
            "#second half",
            "#void",
            "#failed",
        ],
    );
    let rows: Vec<(&str, Vec<(&Trial, f64)>)> = ran(results)
        .map(|target| {
            let own = trials.iter().filter(|trial| trial.target == target.name);
            (
                target.name.as_str(),
                own.filter_map(|trial| Some((*trial, metric.of(trial)?)))
                    .collect(),
            )
        })
        .filter(|(_, values): &(_, Vec<_>)| counts(values) > 1)
        .collect();
    if rows.is_empty() {
        return None;
    }
    let bottom = TOP + ROW * rows.len() as f64;
    let mut svg = Svg::new(860.0, bottom + 24.0);
    svg.text(LEFT, 10.0, Anchor::Start, "axis", "first trial");
    svg.text(RIGHT, 10.0, Anchor::End, "axis", "last trial");
    svg.text(860.0, 10.0, Anchor::End, "axis", metric.unit());
    for (i, (target, values)) in rows.iter().enumerate() {
        let top = TOP + ROW * i as f64;
        let numbers: Vec<f64> = values.iter().map(|(_, value)| *value).collect();
        let least = numbers.iter().copied().fold(f64::INFINITY, f64::min);
        let most = numbers.iter().copied().fold(0.0, f64::max);
        let counted: Vec<(u32, f64)> = values
            .iter()
            .filter(|(trial, _)| trial.outcome == Outcome::Counted)
            .map(|(trial, value)| (trial.sequence, *value))
            .collect();
        let half = |later: bool| {
            let block = |trial: &&(&Trial, f64)| {
                (trial.0.block * 2 >= profile.blocks) == later
                    && trial.0.outcome == Outcome::Counted
            };
            median(
                &values
                    .iter()
                    .filter(block)
                    .map(|(_, value)| *value)
                    .collect::<Vec<_>>(),
            )
        };
        let middle = median(&counted.iter().map(|(_, value)| *value).collect::<Vec<_>>());
        // Each row has a scale of its own around its median, the same factor up and down for all.
        let centre = middle.unwrap_or(least);
        let reach = rows_reach(&rows);
        let y = Scale::logarithmic(
            (centre / reach, centre * reach),
            (top + ROW - 6.0, top + 6.0),
        );
        svg.line((LEFT, top + ROW), (RIGHT, top + ROW), "grid");
        svg.text(
            LEFT - 10.0,
            top + ROW / 2.0 + 4.0,
            Anchor::End,
            "label",
            target,
        );
        if let Some(middle) = middle {
            svg.line((LEFT, y.at(middle)), (RIGHT, y.at(middle)), "median");
            svg.text(
                860.0,
                top + ROW / 2.0 + 4.0,
                Anchor::End,
                "label num",
                &format::number(middle),
            );
        }
        let place = |(sequence, value): (u32, f64)| {
            (
                x.at(f64::from(sequence)),
                y.at(value.clamp(centre / reach, centre * reach)),
            )
        };
        let dots: Vec<(f64, f64)> = counted.iter().copied().map(place).collect();
        svg.dots(&dots, &format!("dot {}", colour(series(results, target))));
        for (trial, value) in values
            .iter()
            .filter(|(trial, _)| trial.outcome != Outcome::Counted)
        {
            let (cross_x, cross_y) = place((trial.sequence, *value));
            svg.line(
                (cross_x - 4.0, cross_y - 4.0),
                (cross_x + 4.0, cross_y + 4.0),
                "cross",
            );
            svg.line(
                (cross_x - 4.0, cross_y + 4.0),
                (cross_x + 4.0, cross_y - 4.0),
                "cross",
            );
        }
        let shown = |value: Option<f64>| value.map_or(String::new(), format::number);
        let outcomes = |matches: fn(&Outcome) -> bool| {
            let own = trials.iter().filter(|trial| trial.target == *target);
            own.filter(|trial| matches(&trial.outcome))
                .count()
                .to_string()
        };
        table.row(vec![
            (*target).into(),
            counted.len().to_string(),
            shown(Some(least)),
            shown(middle),
            shown(Some(most)),
            shown(half(false)),
            shown(half(true)),
            outcomes(|outcome| matches!(outcome, Outcome::Void { .. })),
            outcomes(|outcome| matches!(outcome, Outcome::Failed { .. })),
        ]);
    }
    let reach = (rows_reach(&rows) - 1.0) * 100.0;
    Some(Chart::new(
        anchor(&["strip", &profile.name, &scenario.name]),
        format!(
            "{}, {}: {} of every trial",
            profile.name,
            scenario.name,
            metric.title()
        ),
        format!(
            "In run order; the line is the target's median and each row spans ±{} % around it. Crosses are trials that did not count.",
            format::plain((reach * 10.0).round() / 10.0)
        ),
        svg,
        table,
    ))
}

fn counts(values: &[(&Trial, f64)]) -> usize {
    values
        .iter()
        .filter(|(trial, _)| trial.outcome == Outcome::Counted)
        .count()
}

/// The factor around its median that holds every counted trial of every row, at least 5 %.
fn rows_reach(rows: &[(&str, Vec<(&Trial, f64)>)]) -> f64 {
    let mut reach = 1.05_f64;
    for (_, values) in rows {
        let counted: Vec<f64> = values
            .iter()
            .filter(|(trial, _)| trial.outcome == Outcome::Counted)
            .map(|(_, value)| *value)
            .collect();
        let Some(middle) = median(&counted) else {
            continue;
        };
        for value in counted {
            reach = reach.max(value / middle).max(middle / value);
        }
    }
    reach
}
