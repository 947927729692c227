//! What a target costs apart from time under load: bars from zero, always.

use super::{Chart, Drawn, anchor, ran, series};
use crate::analysis::counted;
use crate::metric::Metric;
use crate::report::Report;
use crate::report::format;
use crate::report::svg::{Anchor, Scale, Svg, colour};
use crate::report::table::Table;
use crate::results::{ProfileKind, Target};
use crate::stats::quantile::median;

const ROW: f64 = 26.0;
const LEFT: f64 = 132.0;

pub fn draw(report: &Report) -> Drawn {
    let results = report.results;
    let measured = |metric: Metric, kind: ProfileKind, target: &Target| {
        let profile = results
            .plan
            .profiles
            .iter()
            .find(|profile| profile.kind == kind)?;
        let scenario = profile.scenarios.first()?;
        let trials = counted(results, &profile.name, &scenario.name, &[&target.name]);
        median(
            &trials
                .into_iter()
                .filter_map(|trial| metric.of(trial))
                .collect::<Vec<_>>(),
        )
    };
    let artifact = |kinds: &[&str], target: &Target| {
        let fits = |kind: &str| kinds.contains(&kind);
        target
            .artifacts
            .iter()
            .find(|a| fits(&a.kind))
            .map(|a| a.bytes as f64 / 1e6)
    };
    let charts: Vec<Chart> = [
        one(report, "cold start", "ms", "From spawn to the first right answer, median of the trials' medians.", &|t| {
            measured(Metric::ColdStart, ProfileKind::ColdStart, t)
        }),
        one(report, "peak memory", "MB", "Peak resident memory of the process group, median over trials. A component's host is included.", &|t| {
            measured(Metric::PeakMemory, ProfileKind::Soak, t).or_else(|| measured(Metric::PeakMemory, ProfileKind::FixedRate, t))
        }),
        one(report, "size of the artefact", "MB", "The .wasm of a component (its host is not counted), the binary of a native build.", &|t| {
            artifact(&["wasm"], t).or_else(|| artifact(&["binary"], t))
        }),
        one(report, "lines of code", "lines", "Hand-written, without blanks, comments and tests; shared code counts in each build that uses it.", &|t| {
            t.lines_of_code.as_ref().map(|lines| lines.total as f64)
        }),
        one(report, "build time", "s", "From clean, as bench.toml declares it.", &|t| t.build_seconds),
    ]
    .into_iter()
    .flatten()
    .collect();
    if charts.is_empty() {
        Err("no cost was declared or measured".into())
    } else {
        Ok(charts)
    }
}

fn one(
    report: &Report,
    what: &str,
    unit: &str,
    summary: &str,
    value: &dyn Fn(&Target) -> Option<f64>,
) -> Option<Chart> {
    let rows: Vec<(&str, f64)> = ran(report.results)
        .filter(|target| target.twin_of.is_none())
        .filter_map(|target| Some((target.name.as_str(), value(target)?)))
        .collect();
    let most = rows.iter().map(|row| row.1).reduce(f64::max)?;
    let x = Scale::linear((0.0, most.max(f64::MIN_POSITIVE)), (LEFT, 395.0));
    let mut svg = Svg::new(480.0, ROW * rows.len() as f64 + 6.0);
    let mut table = Table::new(format!("{what}, {unit}"), &["target", &format!("#{unit}")]);
    for (i, (target, value)) in rows.iter().enumerate() {
        let top = ROW * i as f64 + 3.0;
        svg.text(LEFT - 10.0, top + 15.0, Anchor::End, "label", target);
        let class = format!("bar {}", colour(series(report.results, target)));
        svg.rect(LEFT, top + 3.0, x.at(*value) - LEFT, ROW - 8.0, &class);
        svg.text(
            x.at(*value) + 8.0,
            top + 15.0,
            Anchor::Start,
            "label num",
            &format!("{} {unit}", format::number(*value)),
        );
        table.row(vec![(*target).into(), format::number(*value)]);
    }
    svg.line((LEFT, 0.0), (LEFT, svg.height), "one");
    let mut title = what.to_owned();
    title[..1].make_ascii_uppercase();
    Some(Chart::new(
        anchor(&["bars", what]),
        title,
        summary.into(),
        svg,
        table,
    ))
}
