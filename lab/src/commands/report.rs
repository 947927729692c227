//! `levelfield report`: tells a finished run anew, from its results.json.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use crate::report::{EXPORTERS, Report};
use crate::results::Results;

#[derive(clap::Args)]
pub struct Args {
    /// The directory of a run: results/<time>
    dir: PathBuf,
}

pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let results = Results::read(&args.dir)?;
    // A results.json named directly has its reports beside it.
    let dir = match args.dir.is_dir() {
        true => args.dir.as_path(),
        false => args.dir.parent().unwrap_or(&args.dir),
    };
    Report::of(&results).write(dir)?;
    for exporter in EXPORTERS {
        writeln!(
            std::io::stdout(),
            "{}",
            dir.join(exporter.file_name()).display()
        )?;
    }
    Ok(ExitCode::SUCCESS)
}
