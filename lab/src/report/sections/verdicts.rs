//! The top of the page: what came out, and whether to believe it.

use super::words;
use crate::analysis::{Control, Ratio};
use crate::report::Report;
use crate::report::document::{Badge, Card, CardRow, Tone};
use crate::report::format;

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
    let contract_tone = match (trust.contract_passed, trust.contract_cases) {
        (_, 0) => Tone::Open,
        (passed, cases) if passed == cases => Tone::Good,
        _ => Tone::Bad,
    };
    let generator = trust
        .generator_cpu
        .map_or(("not measured".into(), Tone::Open), |busiest| {
            let tone = if busiest > 0.8 { Tone::Bad } else { Tone::Good };
            (
                format!(
                    "at most {} of its core; above 80 % its timings swell",
                    format::share(busiest)
                ),
                tone,
            )
        });
    let trials = format!(
        "{}: {} void and repeated, {} failed, {} labelled",
        format::plural(trust.trials, "trial"),
        trust.void,
        trust.failed,
        trust.labelled
    );
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
            (
                "Contract".into(),
                format!(
                    "{} of {} cases pass",
                    trust.contract_passed, trust.contract_cases
                ),
                contract_tone,
            ),
            ("Trials".into(), trials, Tone::Even),
            ("Generator".into(), generator.0, generator.1),
            ("Limits".into(), enforced.0, enforced.1),
        ],
    }
}

pub fn cards(report: &Report) -> Vec<Card> {
    let mut cards: Vec<Card> = Vec::new();
    for comparison in &report.results.plan.comparisons {
        let ratios: Vec<&Ratio> = report
            .analysis
            .ratios
            .iter()
            .filter(|r| r.target == comparison.target && r.baseline == comparison.baseline)
            .collect();
        let Some(first) = ratios.first() else {
            continue;
        };
        let nothing = ratios
            .iter()
            .all(|r| r.measured.is_none() && r.finding == first.finding);
        cards.push(Card {
            target: comparison.target.clone(),
            baseline: comparison.baseline.clone(),
            refusal: nothing.then(|| words::verdict(first).0),
            rows: if nothing {
                vec![]
            } else {
                ratios.into_iter().map(row).collect()
            },
        });
    }
    cards
}

fn row(ratio: &Ratio) -> CardRow {
    let (word, tone) = words::verdict(ratio);
    CardRow {
        metric: ratio.metric.title().into(),
        load: words::load(ratio),
        ratio: ratio
            .measured
            .map_or(String::new(), |m| format::ratio(m.ratio)),
        interval: ratio
            .measured
            .map_or(String::new(), |m| format::interval(&m.interval)),
        word,
        tone,
        labels: words::labels(ratio),
    }
}
