//! `levelfield`: parse, run, and turn what failed into one line and an exit code.

use std::process::ExitCode;

use clap::Parser;
use lab::cli::{Cli, Command};
use lab::commands;

fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Check(args) => commands::check::run(&args),
        Command::Compare(args) => commands::compare::run(&args),
        Command::Bench(args) => commands::bench::run(&args),
        Command::Doctor(args) => commands::doctor::run(&args),
        Command::List(args) => commands::list::run(&args),
        Command::Report(args) => commands::report::run(&args),
    };
    outcome.unwrap_or_else(|error| {
        eprintln!("levelfield: {error:#}");
        ExitCode::from(2)
    })
}
