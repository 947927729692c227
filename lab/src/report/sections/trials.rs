//! Every trial, the void and the failed included. Their table is the CSV; here is only what to know about it.

use crate::report::Report;
use crate::report::document::{Block, Section};
use crate::report::format::count;

/// Beyond this many the page would outgrow its 400 KB; the CSV beside it has them all.
pub const ON_THE_PAGE: usize = 800;

pub fn section(report: &Report) -> Section {
    let n = report.results.trials.len();
    let mut blocks = vec![Block::Text(
        "Nothing is left out: void and failed trials are listed with their reasons. An empty cell was not \
         measured, or the sample cannot carry it. trials.csv beside this report holds all of them, and \
         results.json the whole curves."
            .into(),
    )];
    if n == 0 {
        blocks = vec![Block::Absent("No trial was run.".into())];
    } else if n > ON_THE_PAGE {
        blocks.push(Block::Text(format!(
            "This page itself carries the first {} of {}.",
            count(ON_THE_PAGE as u64),
            count(n as u64)
        )));
    }
    Section {
        id: "trials",
        heading: "Trials",
        blocks,
    }
}
