//! The contract matrix: cases by targets, and what differed where one failed.

use crate::report::Report;
use crate::report::document::{Block, Section};
use crate::report::table::Table;
use crate::results::{CaseOutcome, ContractCheck};

pub fn section(report: &Report) -> Section {
    let checks = &report.results.contract;
    let mut blocks = Vec::new();
    if checks.is_empty() {
        blocks.push(Block::Absent(
            "Not shown: no target was checked against the contract in this run.".into(),
        ));
    } else {
        blocks.push(Block::Text(
            "Every target was asked every case before it was measured. A comparison is refused where either \
             side failed one."
                .into(),
        ));
        let failures = failures(checks);
        if !failures.is_empty() {
            blocks.push(Block::List(failures));
        }
        blocks.push(Block::Table(matrix(checks)));
    }
    Section {
        id: "contract",
        heading: "The contract",
        blocks,
    }
}

fn failures(checks: &[ContractCheck]) -> Vec<String> {
    let mut lines = Vec::new();
    for check in checks {
        for case in &check.cases {
            if let CaseOutcome::Fail { difference } = &case.outcome {
                lines.push(format!("{}, {}: {difference}", check.target, case.case));
            }
        }
    }
    lines
}

fn matrix(checks: &[ContractCheck]) -> Table {
    let mut cases: Vec<&str> = Vec::new();
    for case in checks.iter().flat_map(|check| &check.cases) {
        if !cases.contains(&case.case.as_str()) {
            cases.push(&case.case);
        }
    }
    let columns: Vec<&str> = std::iter::once("case")
        .chain(checks.iter().map(|check| check.target.as_str()))
        .collect();
    let mut table = Table::new("✓ as the contract says, ✗ otherwise, – not asked", &columns);
    for case in cases {
        let answers = checks.iter().map(|check| {
            let found = check.cases.iter().find(|other| other.case == case);
            match found.map(|case| &case.outcome) {
                Some(CaseOutcome::Pass) => "✓",
                Some(CaseOutcome::Fail { .. }) => "✗",
                Some(CaseOutcome::NotRun { .. }) | None => "–",
            }
            .to_owned()
        });
        table.row(std::iter::once(case.to_owned()).chain(answers).collect());
    }
    table
}
