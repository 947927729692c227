//! `levelfield build-times`: times each target's build from nothing. Exit code 1 when one fails.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use crate::build_times::{self, BuildTimes};
use crate::config::Config;
use crate::matrix;

#[derive(clap::Args)]
pub struct Args {
    /// Targets of bench.toml: native, component, all, or names
    #[arg(long, value_delimiter = ',', num_args = 1.., default_value = "all")]
    targets: Vec<String>,
    /// The file that declares the targets [default: bench.toml here, or the repository's]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let config = Config::load(args.config.as_deref())?;
    let mut times = BuildTimes::read(&config.dir);
    let mut built: Vec<(&[String], build_times::BuildTime)> = Vec::new();
    let mut failed = false;
    let mut out = std::io::stdout();
    for target in matrix::select(&config, &args.targets)? {
        let (name, command) = (&target.name, target.clean_build.as_slice());
        let lacks_toolchain = target
            .toolchain
            .as_ref()
            .filter(|toolchain| testbed::tool(toolchain).is_err());
        if command.is_empty() {
            writeln!(out, "{name}: bench.toml gives it no clean_build")?;
            continue;
        }
        if let Some(toolchain) = lacks_toolchain {
            writeln!(out, "{name}: no {toolchain}")?;
            continue;
        }
        // Targets that are one build under several settings are built once.
        let known = built.iter().find(|(other, _)| *other == command);
        let time = match known {
            Some((_, time)) => Ok(time.clone()),
            None => build_times::time(&config, target),
        };
        match time {
            Ok(time) => {
                writeln!(out, "{name}: {:.1} s on {} CPUs", time.seconds, time.cpus)?;
                times.set(name, time.clone());
                built.push((command, time));
                times.write(&config.dir)?;
            }
            Err(error) => {
                failed = true;
                writeln!(out, "{name}: {error:#}")?;
            }
        }
    }
    Ok(ExitCode::from(u8::from(failed)))
}
