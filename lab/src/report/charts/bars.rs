//! What a target costs apart from time under load: bars from zero, always.

use super::{Chart, Drawn, anchor, ran, series};
use crate::analysis::counted;
use crate::metric::Metric;
use crate::report::Report;
use crate::report::format;
use crate::report::svg::{Anchor, Scale, Svg, colour};
use crate::report::table::Table;
use crate::results::{Profile, ProfileKind, Scenario, Target, Trial};
use crate::stats::quantile::median;

const ROW: f64 = 26.0;
const LEFT: f64 = 132.0;

/// What a bar shows, and of how many trials it is the median; of files there is nothing to count.
struct Bar {
    value: f64,
    /// The part of it that something beside the server used.
    beside: Option<f64>,
    trials: Option<usize>,
}

impl Bar {
    fn of_file(value: f64) -> Self {
        Self {
            value,
            beside: None,
            trials: None,
        }
    }
}

/// What one chart of bars is about.
struct What<'a> {
    title: String,
    unit: &'a str,
    summary: &'a str,
}

pub fn draw(report: &Report) -> Drawn {
    let mut charts = Vec::new();
    let mut add = |title: &str, unit, summary, bar: &dyn Fn(&Target) -> Option<Bar>| {
        let what = What {
            title: title.to_owned(),
            unit,
            summary,
        };
        charts.extend(one(report, &what, bar));
    };
    let profiles = &report.results.plan.profiles;
    for profile in profiles
        .iter()
        .filter(|one| one.kind == ProfileKind::FixedRate)
    {
        for scenario in &profile.scenarios {
            add(
                &format!("CPU per request, {}", scenario.name),
                "µs",
                "Median of the trials, at this rate and generator only. The paler part was used by what runs beside the \
                 server as a part of its deployment: the sidecar. A store that all targets share is in none of them.",
                &|target| cpu(report, profile, scenario, target),
            );
        }
    }
    for profile in profiles
        .iter()
        .filter(|one| one.kind == ProfileKind::ColdStart)
    {
        let (title, summary) = match profile.page_cache_dropped {
            false => (
                "cold start",
                "From spawn to the first right answer, median of the trials' medians; the files were in the page cache, \
                 as after a restart.",
            ),
            true => (
                "cold start from the disk",
                "The same with the page cache emptied before each spawn, as after a boot; what other programs have \
                 mapped, such as the C library, stays.",
            ),
        };
        add(title, "ms", summary, &|target| {
            measured(report, Metric::ColdStart, profile, target)
        });
    }
    let memory = [ProfileKind::Soak, ProfileKind::FixedRate]
        .into_iter()
        .find_map(|kind| profiles.iter().find(|profile| profile.kind == kind));
    if let Some(profile) = memory {
        add(
            "peak memory",
            "MB",
            "Peak resident memory of the process group and of what runs beside it, median over trials. A component's host \
             is included.",
            &|target| measured(report, Metric::PeakMemory, profile, target),
        );
    }
    let artifact = |kind: &str, target: &Target| {
        let found = target
            .artifacts
            .iter()
            .find(|artifact| artifact.kind == kind)?;
        Some(Bar::of_file(found.bytes as f64 / 1e6))
    };
    add(
        "size of the artefact",
        "MB",
        "The .wasm of a component (its host is not counted), the binary of a native build.",
        &|target| artifact("wasm", target).or_else(|| artifact("binary", target)),
    );
    add(
        "lines of code",
        "lines",
        "Hand-written, without blanks, comments and tests; shared code counts in each build that uses it.",
        &|target| {
            target
                .lines_of_code
                .as_ref()
                .map(|lines| Bar::of_file(lines.total as f64))
        },
    );
    add(
        "dependencies",
        "packages",
        "Of others, direct and indirect, that go into the build; what only tests need is left out.",
        &|target| target.dependencies.map(|n| Bar::of_file(f64::from(n))),
    );
    add(
        "build time",
        "s",
        "From nothing but downloads, timed before this run by levelfield build-times. A component's host is not counted.",
        &|target| target.build_seconds.map(Bar::of_file),
    );
    match charts.is_empty() {
        true => Err("no cost was declared or measured".into()),
        false => Ok(charts),
    }
}

/// The median over the counted trials of a profile's first scenario.
fn measured(report: &Report, metric: Metric, profile: &Profile, target: &Target) -> Option<Bar> {
    let scenario = profile.scenarios.first()?;
    let trials = trials(report, profile, scenario, target);
    let values: Vec<f64> = trials.iter().filter_map(|trial| metric.of(trial)).collect();
    Some(Bar {
        value: median(&values)?,
        beside: None,
        trials: Some(values.len()),
    })
}

fn cpu(report: &Report, profile: &Profile, scenario: &Scenario, target: &Target) -> Option<Bar> {
    let trials = trials(report, profile, scenario, target);
    let of = |value: &dyn Fn(&Trial) -> Option<f64>| -> Vec<f64> {
        trials.iter().filter_map(|trial| value(trial)).collect()
    };
    let all = of(&|trial| Metric::CpuPerRequest.of(trial));
    let beside = of(&|trial| {
        let server = trial.figures.as_ref()?.server?;
        let share = server.beside_cpu_seconds? / server.cpu_seconds?;
        Some(share.min(1.0) * Metric::CpuPerRequest.of(trial)?)
    });
    Some(Bar {
        value: median(&all)?,
        beside: median(&beside),
        trials: Some(all.len()),
    })
}

fn trials<'a>(
    report: &'a Report,
    profile: &Profile,
    scenario: &Scenario,
    target: &Target,
) -> Vec<&'a Trial> {
    counted(
        report.results,
        &profile.name,
        &scenario.name,
        &[&target.name],
    )
}

fn one(report: &Report, what: &What, bar: &dyn Fn(&Target) -> Option<Bar>) -> Option<Chart> {
    let unit = what.unit;
    let rows: Vec<(&str, Bar)> = ran(report.results)
        .filter(|target| target.twin_of.is_none())
        .filter_map(|target| Some((target.name.as_str(), bar(target)?)))
        .collect();
    let most = rows.iter().map(|row| row.1.value).reduce(f64::max)?;
    let x = Scale::linear((0.0, most.max(f64::MIN_POSITIVE)), (LEFT, 395.0));
    let mut svg = Svg::new(480.0, ROW * rows.len() as f64 + 6.0);
    let mut table = Table::new(
        format!("{}, {unit}", what.title),
        &[
            "target",
            &format!("#{unit}"),
            "#of it beside the server",
            "#trials",
        ],
    );
    for (i, (target, bar)) in rows.iter().enumerate() {
        let top = ROW * i as f64 + 3.0;
        svg.text(LEFT - 10.0, top + 15.0, Anchor::End, "label", target);
        let class = format!("bar {}", colour(series(report.results, target)));
        let own = x.at(bar.value - bar.beside.unwrap_or(0.0));
        svg.rect(LEFT, top + 3.0, own - LEFT, ROW - 8.0, &class);
        if bar.beside.is_some() {
            let class = format!("{class} beside");
            svg.rect(own, top + 3.0, x.at(bar.value) - own, ROW - 8.0, &class);
        }
        svg.text(
            x.at(bar.value) + 8.0,
            top + 15.0,
            Anchor::Start,
            "label num",
            &format!("{} {unit}", format::number(bar.value)),
        );
        table.row(vec![
            (*target).into(),
            format::number(bar.value),
            bar.beside.map_or(String::new(), format::number),
            bar.trials.map_or(String::new(), |n| n.to_string()),
        ]);
    }
    svg.line((LEFT, 0.0), (LEFT, svg.height), "one");
    let mut title = what.title.clone();
    title[..1].make_ascii_uppercase();
    Some(Chart::new(
        anchor(&["bars", &what.title]),
        title,
        what.summary.into(),
        svg,
        table.without_empty_columns(),
    ))
}
