//! `levelfield completions`: what a shell needs to complete the command line.

use std::process::ExitCode;

use clap::CommandFactory;
use clap_complete::Shell;

use crate::cli::Cli;

#[derive(clap::Args)]
pub struct Args {
    /// The shell
    shell: Shell,
}

pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    // Into memory first: the generator panics where it cannot write, and a closed pipe is no reason to.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "levelfield", &mut script);
    std::io::Write::write_all(&mut std::io::stdout(), &script)?;
    Ok(ExitCode::SUCCESS)
}
