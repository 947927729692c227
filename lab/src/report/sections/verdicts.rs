//! The top of the page: what came out, and whether to believe it.

use super::words;
use crate::analysis::{Control, Finding, Label, Ratio};
use crate::report::Report;
use crate::report::document::{Badge, Card, CardRow, Tone};
use crate::report::format;
use crate::results::{Comparison, Results};

pub fn badge(report: &Report) -> Badge {
    let trust = &report.analysis.trust;
    let limits = &report.results.environment.limits;
    let (control, control_tone) = match &trust.control {
        Control::Agrees { intervals } => (
            format!(
                "agrees: the same server under two names is the same in all {}",
                format::plural(*intervals, "interval")
            ),
            Tone::Good,
        ),
        Control::Disagrees { metrics } => (
            format!(
                "disagrees on {}: this run finds differences where there are none",
                metrics.join(", ")
            ),
            Tone::Bad,
        ),
        Control::Silent { why } => (format!("silent: {why}"), Tone::Open),
    };
    let contract = match (trust.contract_passed, trust.contract_cases) {
        (_, 0) if trust.held_to_contract == 0 => (
            "no target is held to it: each scenario's own check judged the answers".to_owned(),
            Tone::Even,
        ),
        (_, 0) => ("not asked".to_owned(), Tone::Open),
        (passed, cases) => (
            format!("{passed} of {cases} cases pass"),
            if passed == cases {
                Tone::Good
            } else {
                Tone::Bad
            },
        ),
    };
    let generator = trust
        .generator_cpu
        .map_or(("not measured".into(), Tone::Open), |busiest| {
            let tone = if busiest > 0.8 { Tone::Bad } else { Tone::Good };
            (
                format!(
                    "at most {} of its core; above 80 % its timings swell{}",
                    format::share(busiest),
                    instrument(report)
                ),
                tone,
            )
        });
    let trials = format!(
        "{}: {} void, {} failed, {} labelled",
        format::plural(trust.trials, "trial"),
        trust.void,
        trust.failed,
        trust.labelled
    );
    let trials_tone = match trust.trials - trust.void - trust.failed {
        0 => Tone::Bad,
        _ => Tone::Even,
    };
    let enforced = match &limits.weakness {
        Some(weakness) => (format!("{}: {weakness}", limits.backend), Tone::Open),
        None => (format!("{}, enforced", limits.backend), Tone::Good),
    };
    let word = match (&trust.control, trust.is_trustworthy()) {
        (Control::Disagrees { .. }, _) => ("Not trustworthy", Tone::Bad),
        (_, true) => ("Trustworthy", Tone::Good),
        (Control::Agrees { .. }, false) => ("Contract not met by all", Tone::Open),
        (Control::Silent { .. }, _) => ("Not judged", Tone::Open),
    };
    Badge {
        word: word.0.into(),
        tone: word.1,
        points: vec![
            ("A/A control".into(), control, control_tone),
            ("Contract".into(), contract.0, contract.1),
            ("Trials".into(), trials, trials_tone),
            ("Generator".into(), generator.0, generator.1),
            ("Limits".into(), enforced.0, enforced.1),
        ],
    }
}

/// How many of the published latencies and rates are the generator's as much as the server's.
fn instrument(report: &Report) -> String {
    let measured = report
        .analysis
        .ratios
        .iter()
        .filter(|ratio| ratio.measured.is_some());
    let near = |label: &Label| {
        matches!(
            label,
            Label::InstrumentLimit { .. } | Label::GeneratorBound { .. }
        )
    };
    match measured
        .filter(|ratio| ratio.labels.iter().any(near))
        .count()
    {
        0 => String::new(),
        n => format!("; {} at its own limit", format::plural(n, "ratio")),
    }
}

/// Verdicts by comparison, and the comparisons that have none, by what stands in their way.
pub fn cards(report: &Report) -> (Vec<Card>, Vec<String>) {
    let mut cards: Vec<Card> = Vec::new();
    let mut not_compared: Vec<(String, Vec<String>)> = Vec::new();
    for comparison in &report.results.plan.comparisons {
        let ratios: Vec<&Ratio> = report
            .analysis
            .ratios
            .iter()
            .filter(|r| r.target == comparison.target && r.baseline == comparison.baseline)
            .collect();
        match obstacle(report.results, comparison, &ratios) {
            None => cards.push(Card {
                target: comparison.target.clone(),
                baseline: comparison.baseline.clone(),
                rows: ratios.into_iter().map(row).collect(),
            }),
            Some(why) => {
                let pair = format!("{} against {}", comparison.target, comparison.baseline);
                match not_compared.iter_mut().find(|(reason, _)| *reason == why) {
                    Some((_, pairs)) => pairs.push(pair),
                    None => not_compared.push((why, vec![pair])),
                }
            }
        }
    }
    let line = |(why, pairs): (String, Vec<String>)| format!("{}: {why}", pairs.join(", "));
    (cards, not_compared.into_iter().map(line).collect())
}

/// What keeps a whole comparison from being made; None where some ratio was measured, or each lacks something else.
fn obstacle(results: &Results, comparison: &Comparison, ratios: &[&Ratio]) -> Option<String> {
    let Some(first) = ratios.first() else {
        let absent = [&comparison.target, &comparison.baseline]
            .into_iter()
            .find_map(|name| {
                let missing = results
                    .target(name)
                    .and_then(|target| target.missing.clone());
                missing.map(|missing| format!("{name} did not run: {missing}"))
            });
        return Some(absent.unwrap_or_else(|| "not both took part in this run".into()));
    };
    let Finding::Withheld(why) = &first.finding else {
        return None;
    };
    let alike = |ratio: &&Ratio| ratio.measured.is_none() && ratio.finding == first.finding;
    ratios.iter().all(alike).then(|| why.clone())
}

fn row(ratio: &Ratio) -> CardRow {
    let (word, tone) = words::verdict(ratio);
    CardRow {
        metric: ratio.metric.title().into(),
        load: words::load(ratio),
        ratio: ratio
            .measured
            .map_or(String::new(), |m| format::ratio(m.ratio)),
        interval: ratio.measured.map_or(String::new(), |m| {
            let blocks = format::plural(ratio.blocks, "block");
            format!("{}, {blocks}", format::interval(&m.interval))
        }),
        word,
        tone,
        labels: words::labels(ratio),
    }
}
