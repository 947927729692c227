//! What was measured, under what limits, and what that does not show: written for somebody who doubts it.

use crate::analysis::ALPHA;
use crate::report::Report;
use crate::report::document::{Block, Section};
use crate::report::format;
use crate::report::table::Table;
use crate::results::{CpuMode, Limits, Profile, ProfileKind};
use crate::stats::interval::RESAMPLES;
use crate::stats::verdict::{MIN_BLOCKS, MIN_BLOCKS_TAIL};

pub fn section(report: &Report) -> Section {
    let results = report.results;
    let mut blocks = Vec::new();
    if !results.environment.cautions.is_empty() {
        blocks.push(Block::List(results.environment.cautions.clone()));
    }
    blocks.push(Block::Text(format!(
        "Each trial ran one fresh server process alone under the same limits: {}. A block runs every \
         target once, in a freshly shuffled order, and targets are compared inside their block, so \
         that what drifts over the run is common to both. The plan, its seed ({}) and the rules for \
         leaving a trial out were fixed before the first trial.",
        limits(&results.environment.limits),
        results.plan.seed
    )));
    blocks.push(Block::Table(profiles(&results.plan.profiles)));
    blocks.push(Block::Text(format!(
        "A ratio is the geometric mean over blocks of target / baseline; of p99 it is the ratio of the \
         requests of all blocks pooled. Intervals come from a seeded bootstrap of {} resamples over \
         blocks, never over requests, because requests inside a trial depend on each other. They are \
         widened after Holm so that the chance of even one false word among all comparisons stays \
         below {}. Fewer than {MIN_BLOCKS} blocks ({MIN_BLOCKS_TAIL} for p99) give a figure and no \
         verdict; a percentile is printed only where ten requests or more lie beyond it.",
        format::count(RESAMPLES as u64),
        format::share(ALPHA)
    )));
    if !results.plan.exclusion_rules.is_empty() {
        blocks.push(Block::Heading("When a trial does not count"));
        blocks.push(Block::Text(format!(
            "A void trial is repeated at most {} times, and what it read \
             stays in the table of trials.",
            results.plan.max_repeats
        )));
        blocks.push(Block::List(results.plan.exclusion_rules.clone()));
    }
    blocks.push(Block::Heading("What this does not show"));
    blocks.push(Block::List(limits_of_the_claim(report)));
    Section {
        id: "method",
        heading: "What was measured, and what it does not show",
        blocks,
    }
}

fn limits(limits: &Limits) -> String {
    let cpus = format::plain(limits.cpus);
    let cpu = match (&limits.server_cpus, limits.cpu_mode) {
        (_, CpuMode::Unlimited) => "all CPUs".into(),
        (_, CpuMode::Quota) => format!("{cpus} CPU by quota over all cores"),
        (Some(set), CpuMode::Pin) => format!("{cpus} CPU, pinned to CPU {set}"),
        (None, CpuMode::Pin) => format!("{cpus} CPU, pinned"),
    };
    let generator = limits.generator_cpus.as_ref().map_or(String::new(), |set| {
        format!(", the load generator on CPU {set}")
    });
    let memory = format!("{} MiB of memory", limits.memory_bytes / (1024 * 1024));
    let weakness = limits
        .weakness
        .as_ref()
        .map_or(String::new(), |why| format!(", but {why}"));
    format!("{cpu}, {memory} ({}{weakness}){generator}", limits.backend)
}

fn profiles(profiles: &[Profile]) -> Table {
    let mut table = Table::new(
        "The plan",
        &[
            "profile",
            "scenario",
            "generator",
            "load",
            "#blocks",
            "trial",
            "warm-up",
            "scaled down",
        ],
    );
    for profile in profiles {
        for scenario in &profile.scenarios {
            let connections = profile.connections.map(|n| match profile.kind {
                ProfileKind::OriginalClosed | ProfileKind::Capacity => {
                    format!("closed loop, {}", format::plural(n as usize, "connection"))
                }
                _ => format!("up to {} virtual users", format::count(n.into())),
            });
            let load: Vec<String> = [
                scenario
                    .rate
                    .map(|rate| format!("open loop, {} requests per second", format::plain(rate))),
                scenario
                    .slo_p99_ms
                    .map(|slo| format!("climbed until p99 exceeds {} ms", format::plain(slo))),
                connections.filter(|_| profile.kind != ProfileKind::Capacity),
                (!profile.keep_alive && profile.kind != ProfileKind::ColdStart)
                    .then(|| "a connection per request".into()),
            ]
            .into_iter()
            .flatten()
            .collect();
            let length = match (scenario.requests, profile.seconds) {
                (Some(requests), _) => format!("{} requests", format::count(requests)),
                (None, Some(seconds)) => format!("{} s", format::plain(seconds)),
                (None, None) => String::new(),
            };
            table.row(vec![
                profile.name.clone(),
                format!("{} ({})", scenario.name, scenario.request),
                profile.generator.clone(),
                load.join(", "),
                profile.blocks.to_string(),
                length,
                profile.warm_up.clone().unwrap_or_default(),
                profile.scaled.clone().unwrap_or_default(),
            ]);
        }
    }
    table.without_empty_columns()
}

fn limits_of_the_claim(report: &Report) -> Vec<String> {
    let results = report.results;
    let ran = |kind: ProfileKind| {
        results
            .plan
            .profiles
            .iter()
            .any(|profile| profile.kind == kind)
    };
    let mut lines = vec![
        "How a service of yours would do. These handlers do almost nothing, which makes the cost of \
         the way of running as visible as it can be; the more a handler does, the less of the ratio \
         remains."
            .to_owned(),
        format!(
            "Other machines, or a network. This is one machine ({}), client and server on it, over \
             loopback, without TLS.",
            results.environment.machine.cpu_model
        ),
    ];
    if ran(ProfileKind::FixedRate) {
        lines.push(
            "Capacity, by its CPU per request: that figure depends on the shape of the load and is \
             compared at this one rate and generator only."
                .into(),
        );
    }
    if ran(ProfileKind::OriginalClosed) {
        lines.push(
            "Latency, in the closed-loop original: a saturated loop slows its clients down with the \
             server, so its latencies are shown as they were once published and judged nowhere."
                .into(),
        );
    }
    if ran(ProfileKind::OriginalK6) {
        lines.push(
            "A claim, in the k6 original: a CPU quota lets a server burst and then stalls it, and ten \
             seconds are few."
                .into(),
        );
    }
    lines.push(
        "A winner. There is no composite score: which of these costs matters is yours to say."
            .into(),
    );
    let absent: Vec<String> = results
        .targets
        .iter()
        .filter_map(|target| Some(format!("{} ({})", target.name, target.missing.as_ref()?)))
        .collect();
    if !absent.is_empty() {
        lines.push(format!(
            "Anything of the targets that did not run: {}.",
            absent.join(", ")
        ));
    }
    lines
}
