//! `levelfield compare`: exit code 0 without a regression, 1 with one, 2 when the runs cannot be compared.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use crate::compare::{self, Refusal};
use crate::report::{Bencher, Exporter, Report, changes_table};
use crate::results::Results;

#[derive(clap::Args)]
pub struct Args {
    /// The directory, or the results.json, of the run to compare with
    old: PathBuf,
    /// The directory, or the results.json, of the run to judge
    new: PathBuf,
    /// Compare runs that differ in machine, limits or load, and say in what
    #[arg(long)]
    force: bool,
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Clone, Copy, Default, PartialEq, clap::ValueEnum)]
enum Format {
    /// A table of every change
    #[default]
    Markdown,
    /// The new run's figures as Bencher Metric Format
    Bencher,
}

pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let (old, new) = (Results::read(&args.old)?, Results::read(&args.new)?);
    let refusals = compare::refusals(&old, &new);
    for refusal in &refusals {
        eprintln!("levelfield: {refusal}");
        if let Refusal::Unlike(differences) = refusal {
            for difference in differences {
                eprintln!("  {difference}");
            }
        }
    }
    if !refusals.is_empty() && !args.force {
        anyhow::bail!("not compared; --force compares all the same");
    }
    let changes = compare::changes(&old, &new)?;
    match args.format {
        Format::Markdown => write!(std::io::stdout(), "{}", changes_table(&changes))?,
        Format::Bencher => write!(std::io::stdout(), "{}", Bencher.export(&Report::of(&new))?)?,
    }
    let regressions = changes
        .iter()
        .filter(|change| change.is_regression())
        .count();
    Ok(ExitCode::from(u8::from(regressions > 0)))
}
