//! `levelfield doctor`: what on this machine would spoil a run.

use std::io::Write;
use std::process::ExitCode;

use crate::bench::Cores;
use crate::doctor;
use crate::limits;

#[derive(clap::Args)]
pub struct Args {}

pub fn run(_args: &Args) -> anyhow::Result<ExitCode> {
    let cores = Cores::of_this_machine(1);
    let backend = limits::best();
    let mut out = std::io::stdout();
    writeln!(
        out,
        "limits by {}; servers on CPU {}, generators on CPU {}",
        backend.name(),
        cores.server,
        cores.generator
    )?;
    let cautions = doctor::examine(&cores, &*backend);
    for caution in &cautions {
        writeln!(out, "- {caution}")?;
    }
    if cautions.is_empty() {
        writeln!(out, "nothing here would spoil a run")?;
    }
    Ok(ExitCode::SUCCESS)
}
