//! Throughput against p99: the capacity ladder, rung by rung.

use super::{Chart, Drawn, Frame, anchor, ran, series};
use crate::analysis::{Label, counted};
use crate::metric::Metric;
use crate::report::Report;
use crate::report::format;
use crate::report::svg::{Anchor, Scale, Svg, colour, spread};
use crate::report::table::Table;
use crate::results::{Profile, ProfileKind, Scenario, Step};
use crate::stats::quantile::median;

struct Ladder<'a> {
    target: &'a str,
    /// The median of each rung over the trials; a rung passed if it did in most of them.
    rungs: Vec<Step>,
    /// The median of the trials' capacities.
    capacity: f64,
}

pub fn draw(report: &Report) -> Drawn {
    let profiles = report.results.plan.profiles.iter();
    let charts: Vec<Chart> = profiles
        .filter(|profile| profile.kind == ProfileKind::Capacity)
        .flat_map(|profile| {
            profile
                .scenarios
                .iter()
                .filter_map(|s| one(report, profile, s))
        })
        .collect();
    if charts.is_empty() {
        Err("the capacity profile was not part of this run".into())
    } else {
        Ok(charts)
    }
}

fn ladder<'a>(
    report: &Report,
    profile: &Profile,
    scenario: &Scenario,
    target: &'a str,
) -> Option<Ladder<'a>> {
    let trials = counted(report.results, &profile.name, &scenario.name, &[target]);
    let figures = || trials.iter().filter_map(|trial| trial.figures.as_ref());
    let capacities: Vec<f64> = figures().map(|figures| figures.capacity()).collect();
    let steps: Vec<&Step> = figures().flat_map(|figures| &figures.ladder).collect();
    let mut places: Vec<u32> = steps.iter().map(|step| step.connections).collect();
    places.sort_unstable();
    places.dedup();
    let rung = |connections: u32| -> Option<Step> {
        let same: Vec<&&Step> = steps
            .iter()
            .filter(|step| step.connections == connections)
            .collect();
        let middle = |pick: fn(&Step) -> f64| {
            median(&same.iter().map(|step| pick(step)).collect::<Vec<_>>())
        };
        Some(Step {
            connections,
            offered_rate: middle(|step| step.offered_rate.unwrap_or(f64::NAN))
                .filter(|rate| rate.is_finite()),
            rate: middle(|step| step.rate)?,
            p50_ms: middle(|step| step.p50_ms)?,
            p99_ms: middle(|step| step.p99_ms)?,
            errors: same.iter().map(|step| step.errors).sum(),
            dropped_share: middle(|step| step.dropped_share)?,
            passed: same.iter().filter(|step| step.passed).count() * 2 > same.len(),
        })
    };
    let rungs: Vec<Step> = places
        .into_iter()
        .filter_map(rung)
        .filter(|r| r.p99_ms > 0.0)
        .collect();
    (!rungs.is_empty()).then_some(Ladder {
        target,
        rungs,
        capacity: median(&capacities)?,
    })
}

fn one(report: &Report, profile: &Profile, scenario: &Scenario) -> Option<Chart> {
    let results = report.results;
    let ladders: Vec<Ladder> = ran(results)
        .filter_map(|target| ladder(report, profile, scenario, &target.name))
        .collect();
    let rungs = || ladders.iter().flat_map(|ladder| &ladder.rungs);
    let most = rungs().map(|rung| rung.rate).reduce(f64::max)?;
    let low = rungs().map(|rung| rung.p99_ms).reduce(f64::min)?;
    let high = rungs().map(|rung| rung.p99_ms).reduce(f64::max)?;
    let slo = scenario.slo_p99_ms.unwrap_or(10.0);
    let frame = Frame {
        left: 58.0,
        right: 690.0,
        top: 30.0,
        bottom: 350.0,
    };
    let x = Scale::linear((0.0, most * 1.04), (frame.left, frame.right));
    let y = Scale::logarithmic(
        (low.min(slo) / 1.2, high.max(slo) * 1.2),
        (frame.bottom, frame.top),
    );

    let mut svg = Svg::new(860.0, 392.0);
    frame.vertical_axis(&mut svg, &y, "p99, ms, log");
    frame.horizontal_axis(&mut svg, &x, "answers per second", format::plain);
    svg.line((frame.left, y.at(slo)), (frame.right, y.at(slo)), "limit");
    svg.text(
        frame.left + 6.0,
        y.at(slo) - 6.0,
        Anchor::Start,
        "tick",
        &format!("limit: p99 ≤ {} ms", format::plain(slo)),
    );
    let ends: Vec<f64> = ladders
        .iter()
        .map(|l| y.at(l.rungs[l.rungs.len() - 1].p99_ms))
        .collect();
    let labels = spread(&ends, 17.0, frame.top, frame.bottom);
    let mut table = Table::new(
        format!(
            "{}: highest rate with p99 ≤ {} ms and no error, and the rungs climbed",
            scenario.request,
            format::plain(slo)
        ),
        &[
            "target",
            "#capacity",
            "#connections",
            "#rate",
            "#p50 ms",
            "#p99 ms",
            "#errors",
            "within limits",
            "labels",
        ],
    );
    for (ladder, label_y) in ladders.iter().zip(labels) {
        let number = series(results, ladder.target);
        let points: Vec<(f64, f64)> = ladder
            .rungs
            .iter()
            .map(|rung| (x.at(rung.rate), y.at(rung.p99_ms)))
            .collect();
        svg.path(&points, false, &format!("curve {}", colour(number)));
        for (rung, &at) in ladder.rungs.iter().zip(&points) {
            svg.marker(number, at, !rung.passed);
        }
        let knee = ladder
            .rungs
            .iter()
            .zip(&points)
            .filter(|(rung, _)| rung.passed);
        if let Some((_, &(knee_x, knee_y))) = knee.max_by(|a, b| a.0.rate.total_cmp(&b.0.rate)) {
            svg.line(
                (knee_x, knee_y - 8.0),
                (knee_x, knee_y - 18.0),
                &format!("curve {}", colour(number)),
            );
        }
        let end = points[points.len() - 1];
        svg.line(
            (end.0 + 5.0, end.1),
            (frame.right + 22.0, label_y),
            "leader",
        );
        svg.marker(number, (frame.right + 28.0, label_y), false);
        svg.text(
            frame.right + 38.0,
            label_y + 4.0,
            Anchor::Start,
            "label",
            ladder.target,
        );
        let label = Label::of_target(
            results,
            profile,
            &scenario.name,
            ladder.target,
            Metric::Capacity,
        );
        for (i, rung) in ladder.rungs.iter().enumerate() {
            let once = |text: String| if i == 0 { text } else { String::new() };
            table.row(vec![
                ladder.target.into(),
                once(format::number(ladder.capacity)),
                rung.connections.to_string(),
                format::number(rung.rate),
                format::number(rung.p50_ms),
                format::number(rung.p99_ms),
                format::count(rung.errors),
                if rung.passed { "yes" } else { "no" }.into(),
                once(label.as_ref().map(ToString::to_string).unwrap_or_default()),
            ]);
        }
    }
    Some(Chart::new(
        anchor(&["ladder", &profile.name, &scenario.name]),
        format!("Capacity on {}", scenario.request),
        "Each marker is a rung of the ladder (the median over blocks); hollow ones broke a limit. The tick \
         above a line is its knee: the last rate within limits."
            .into(),
        svg,
        table.without_empty_columns(),
    ))
}
