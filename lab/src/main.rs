//! `levelfield`: parse, run, and turn what failed into one line and an exit code.

use std::io::{ErrorKind, Write};
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
        Command::BuildTimes(args) => commands::build_times::run(&args),
        Command::Completions(args) => commands::completions::run(&args),
    };
    outcome.unwrap_or_else(|error| {
        if is_closed_pipe(&error) {
            // Whoever read has read enough: as a shell counts a program that SIGPIPE ended.
            return ExitCode::from(141);
        }
        // Where nobody reads this either, the exit code has to do.
        let _ = writeln!(std::io::stderr(), "levelfield: {error:#}");
        ExitCode::from(2)
    })
}

fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let kind = |cause: &(dyn std::error::Error + 'static)| {
        let json = cause.downcast_ref::<serde_json::Error>();
        let io = cause.downcast_ref::<std::io::Error>();
        io.map(std::io::Error::kind)
            .or(json.and_then(serde_json::Error::io_error_kind))
    };
    error
        .chain()
        .any(|cause| kind(cause) == Some(ErrorKind::BrokenPipe))
}
