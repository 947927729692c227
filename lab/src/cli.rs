//! The command line.

use clap::{Parser, Subcommand};

use crate::commands;

#[derive(Parser)]
#[command(
    name = "levelfield",
    version,
    about = "Checks servers against the contract, and measures them under equal limits",
    propagate_version = true
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand)]
pub enum Command {
    /// Ask a server every case of the contract suite
    Check(commands::check::Args),
    /// Set a run against an earlier one: exit code 1 on a regression
    Compare(commands::compare::Args),
    /// Measure the targets of bench.toml under equal limits, and write a report
    Bench(commands::bench::Args),
    /// Say what on this machine would spoil a run
    Doctor(commands::doctor::Args),
    /// Show the targets of bench.toml, and what each lacks on this machine
    List(commands::list::Args),
    /// Write the report of a finished run again, from its results.json
    Report(commands::report::Args),
    /// Time each target's build from nothing, for later reports
    BuildTimes(commands::build_times::Args),
    /// Print the completions for a shell
    Completions(commands::completions::Args),
}
