//! The document's parts, in the order of the page.

mod contract;
mod method;
mod originals;
mod setting;
pub mod trials;
mod verdicts;
pub mod words;

use super::Report;
use super::charts::{self, Drawn};
use super::document::{Block, Document, Section};
use super::format;
use crate::results::Mode;

pub fn document(report: &Report) -> Document {
    let (cards, not_compared) = verdicts::cards(report);
    Document {
        title: "Levelfield report".into(),
        subtitle: subtitle(report),
        badge: verdicts::badge(report),
        cards,
        not_compared,
        sections: vec![
            method::section(report),
            ratios(report),
            charts(
                "latency",
                "Latency at a fixed rate",
                charts::quantiles::draw(report),
            ),
            charts("capacity", "Capacity", charts::ladder::draw(report)),
            charts("costs", "What else it costs", charts::bars::draw(report)),
            charts(
                "run-order",
                "Every trial, in run order",
                charts::strip::draw(report),
            ),
            charts(
                "timeline",
                "One trial, second by second",
                charts::timeline::draw(report),
            ),
            originals::section(report),
            contract::section(report),
            setting::section(report),
            trials::section(report),
        ],
    }
}

fn charts(id: &'static str, heading: &'static str, drawn: Drawn) -> Section {
    let blocks = match drawn {
        Ok(charts) => charts.into_iter().map(Block::Chart).collect(),
        Err(why) => vec![Block::Absent(format!("Not drawn: {why}."))],
    };
    Section {
        id,
        heading,
        blocks,
    }
}

fn ratios(report: &Report) -> Section {
    let mut section = charts("ratios", "Ratios", charts::forest::draw(report));
    if matches!(section.blocks.first(), Some(Block::Chart(_))) {
        section.blocks.insert(
            0,
            Block::Text(
                "Target divided by baseline, on a logarithmic scale that all these charts share. Left of 1 the \
                 target takes less time, CPU or memory (of capacity: carries less), right of it more. An \
                 interval inside the shaded band, ±3 %, is called equivalent. The last chart is the A/A \
                 control: its truth is 1."
                    .into(),
            ),
        );
    }
    section
}

fn subtitle(report: &Report) -> String {
    let results = report.results;
    let machine = &results.environment.machine;
    let mode = match results.plan.mode {
        Mode::Quick => "quick run",
        Mode::Default => "default run",
        Mode::Thorough => "thorough run",
    };
    let day = results.started.replace('T', " ").replace('Z', " UTC");
    let early = results
        .stopped_early
        .as_ref()
        .map(|why| format!(", stopped early: {why}"));
    format!(
        "{day} · {mode}{}, {} · {}, {} CPUs · levelfield {}",
        early.unwrap_or_default(),
        format::plural(results.trials.len(), "trial"),
        machine.cpu_model,
        machine.logical_cpus,
        results.lab_version
    )
}
