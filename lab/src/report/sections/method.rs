//! What was measured, under what limits, and what that does not show: written for somebody who doubts it.

use crate::analysis::ALPHA;
use crate::report::Report;
use crate::report::document::{Block, Section};
use crate::report::format;
use crate::report::table::Table;
use crate::results::{Calibration, CpuMode, Limits, Mode, Profile, ProfileKind};
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
    let alternating = alternating(&results.plan.profiles);
    if !alternating.is_empty() {
        blocks.push(Block::Text(alternating));
    }
    let calibrations = calibrations(&results.calibrations);
    if !calibrations.is_empty() {
        blocks.push(Block::Table(calibrations.without_empty_columns()));
    }
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
        let budget = results
            .plan
            .budget_seconds
            .map_or(String::new(), |seconds| {
                format!(
                    ", unless the run would then last longer than {} minutes",
                    format::plain(seconds / 60.0)
                )
            });
        blocks.push(Block::Text(format!(
            "A void trial is repeated at most {} times{budget}, and what it read stays in the table of trials.",
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

/// The scenarios that ask more than one thing.
fn alternating(profiles: &[Profile]) -> String {
    let mut sentences: Vec<String> = Vec::new();
    for scenario in profiles.iter().flat_map(|profile| &profile.scenarios) {
        let sentence = format!(
            "{} asks {} and {} in an order drawn from the seed, the same for every target of a block.",
            scenario.name,
            scenario.request,
            scenario.variants.join(", ")
        );
        if !scenario.variants.is_empty() && !sentences.contains(&sentence) {
            sentences.push(sentence);
        }
    }
    sentences.join(" ")
}

/// What the generators read from a server that does nothing: the least latency and the highest rate they can show.
fn calibrations(calibrations: &[Calibration]) -> Table {
    let mut table = Table::new(
        "The generators alone, against a server that does nothing, in this run: their floor in ms, and their ceiling \
         where the loop is closed",
        &[
            "profile",
            "scenario",
            "generator",
            "#requests",
            "#per second",
            "#p50",
            "#p99",
            "#of its core",
        ],
    );
    for one in calibrations {
        let at = |p| {
            one.latency
                .percentile(p)
                .map_or(String::new(), format::number)
        };
        table.row(vec![
            one.profile.clone(),
            one.scenario.clone().unwrap_or_default(),
            one.generator.clone(),
            format::count(one.latency.n),
            format::number(one.achieved_rate),
            at(0.5),
            at(0.99),
            one.generator_cpu.map_or(String::new(), format::share),
        ]);
    }
    table
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
    if ran(ProfileKind::FixedRate) && results.plan.mode != Mode::Thorough {
        lines.push(
            "The tails: a word about p99 needs thirty blocks, which only a thorough run has; here its ratios are \
             figures without a verdict."
                .into(),
        );
    }
    if ran(ProfileKind::ColdStart)
        && !results
            .plan
            .profiles
            .iter()
            .any(|one| one.page_cache_dropped)
    {
        lines.push(
            "The first start after a boot: the files of every program were in the page cache when it was started."
                .into(),
        );
    }
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
