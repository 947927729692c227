//! Where it ran and what was compared: enough to repeat it, or to say why it cannot be repeated.

use crate::report::Report;
use crate::report::document::{Block, Section};
use crate::report::format::{self, count, megabytes};
use crate::report::table::Table;
use crate::results::{Fact, Results, Target};

pub fn section(report: &Report) -> Section {
    let results = report.results;
    let mut blocks = vec![
        Block::Text("This command, on this machine, repeats the run.".into()),
        Block::Code(results.plan.command.clone()),
        Block::Table(environment(results)),
        Block::Table(targets(results)),
    ];
    let disclosures = disclosures(&results.targets);
    if !disclosures.is_empty() {
        blocks.push(Block::Folded {
            summary: "Commands, artefacts and settings of each target".into(),
            table: disclosures,
        });
    }
    Section {
        id: "setting",
        heading: "Where it ran, and how to repeat it",
        blocks,
    }
}

fn environment(results: &Results) -> Table {
    let environment = &results.environment;
    let machine = &environment.machine;
    let mut table = Table::new("Environment", &["what", "value"]);
    let mut row = |name: &str, value: String| {
        if !value.is_empty() {
            table.row(vec![name.into(), value]);
        }
    };
    row(
        "CPU",
        format!(
            "{}, {} logical CPUs",
            machine.cpu_model, machine.logical_cpus
        ),
    );
    row("memory", megabytes(machine.memory_bytes));
    row(
        "system",
        format!(
            "{}, kernel {}, {}",
            machine.os, machine.kernel, machine.architecture
        ),
    );
    row(
        "virtualization",
        machine.virtualization.clone().unwrap_or_default(),
    );
    row("limits", environment.limits.backend.clone());
    for program in &environment.programs {
        row(&program.name, program.version.clone());
    }
    if let Some(git) = &environment.git {
        let dirty = if git.dirty {
            ", with uncommitted changes"
        } else {
            ""
        };
        row("commit", format!("{}{dirty}", git.commit));
    }
    for Fact { name, value } in &environment.facts {
        row(name, value.clone());
    }
    row("seed", results.plan.seed.to_string());
    row("bench.toml, sha256", results.plan.bench_toml_sha256.clone());
    row(
        "results, schema version",
        results.schema_version.to_string(),
    );
    table
}

fn targets(results: &Results) -> Table {
    let mut table = Table::new(
        "Targets",
        &[
            "target",
            "what",
            "#lines of code",
            "artefacts",
            "#build time",
            "#dependencies",
            "in this run",
        ],
    );
    for target in &results.targets {
        let artifacts = target
            .artifacts
            .iter()
            .map(|a| format!("{} {}", a.kind, megabytes(a.bytes)));
        let state = match (&target.missing, target.managed) {
            (Some(missing), _) => format!("no: {missing}"),
            (None, false) => "unmanaged: not started by the lab, no limits, no verdict".into(),
            (None, true) => "yes".into(),
        };
        table.row(vec![
            target.name.clone(),
            target.description.clone(),
            target
                .lines_of_code
                .as_ref()
                .map_or(String::new(), |lines| count(lines.total)),
            artifacts.collect::<Vec<_>>().join(", "),
            target
                .build_seconds
                .map_or(String::new(), |s| format!("{} s", format::number(s))),
            target
                .dependencies
                .map_or(String::new(), |n| count(n.into())),
            state,
        ]);
    }
    table.without_empty_columns()
}

fn disclosures(targets: &[Target]) -> Table {
    let mut table = Table::new("Settings", &["target", "what", "value"]);
    for target in targets {
        let mut row = |name: &str, value: String| {
            if !value.is_empty() {
                table.row(vec![target.name.clone(), name.into(), value]);
            }
        };
        row("command", target.command.join(" "));
        row("url", target.url.clone().unwrap_or_default());
        for (name, value) in &target.env {
            row(name, value.clone());
        }
        for fact in &target.disclosures {
            row(&fact.name, fact.value.clone());
        }
        for artifact in &target.artifacts {
            row(
                &format!("{}, sha256", artifact.file),
                artifact.sha256.clone(),
            );
        }
        if let Some(lines) = &target.lines_of_code {
            row("lines counted in", lines.sources.join(", "));
        }
    }
    table
}
