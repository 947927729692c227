//! The table of cases, and under it what differs.

use std::io::{self, Write};

use super::{Checked, StoreState};

/// Prints a line for every case, in groups, and the differences of those that failed.
pub fn print(
    out: &mut impl Write,
    checked: &Checked,
    url: &str,
    store: StoreState,
) -> io::Result<()> {
    let mut group = "";
    for checked in &checked.cases {
        if checked.group != group {
            group = checked.group;
            writeln!(out, "{group}")?;
        }
        let verdict = match checked.passed() {
            true => "pass",
            false => "FAIL",
        };
        writeln!(
            out,
            "  {verdict}  {:<9}  {:<28}  {}",
            checked.methods,
            shortened(&checked.target, 28),
            checked.name
        )?;
        for line in checked.difference().lines() {
            writeln!(out, "          {line}")?;
        }
    }
    let total = checked.cases.len();
    let summary = match checked.failed() {
        0 => format!("all {total} cases pass"),
        failed => format!("{failed} of {total} cases fail"),
    };
    writeln!(out, "{url}, store {}: {summary}", store.name())
}

fn shortened(text: &str, width: usize) -> String {
    match text.char_indices().nth(width) {
        Some(_) => {
            let kept: String = text.chars().take(width - 1).collect();
            format!("{kept}…")
        }
        None => text.to_owned(),
    }
}
