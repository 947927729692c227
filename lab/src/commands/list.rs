//! `levelfield list`: the targets of bench.toml, and what each lacks.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use crate::config::Config;
use crate::programs;

#[derive(clap::Args)]
pub struct Args {
    /// The file that declares targets and profiles [default: bench.toml here, or the repository's]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let config = Config::load(args.config.as_deref())?;
    let mut out = std::io::stdout().lock();
    let width = config
        .targets
        .iter()
        .map(|target| target.name.len())
        .max()
        .unwrap_or(0);
    for target in &config.targets {
        let state = match programs::of_target(&config, target) {
            Ok(_) => "ready".to_owned(),
            Err(lack) => lack.to_string(),
        };
        writeln!(
            out,
            "{:<width$}  {}; {state}",
            target.name, target.description
        )?;
    }
    for twin in &config.twins {
        writeln!(
            out,
            "{:<width$}  twin     of {}, the A/A control",
            twin.name, twin.of
        )?;
    }
    Ok(ExitCode::SUCCESS)
}
