//! `levelfield check`: exit code 0 when every case passes, 1 when one fails, 2 when it could not be asked, 130 when it was
//! interrupted.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;

use crate::check::{self, Interrupted, StoreState, Suite};
use crate::config::Config;
use crate::http::Origin;
use crate::interrupt::Interrupt;
use crate::matrix::{self, RowOutcome};
use crate::results::ContractCheck;
use crate::services::Services;

#[derive(clap::Args)]
pub struct Args {
    /// A server that runs: http://127.0.0.1:8083
    #[arg(long, required_unless_present = "targets", conflicts_with = "targets")]
    url: Option<String>,
    /// Targets of bench.toml to start and check: native, component, all, or names
    #[arg(long, value_delimiter = ',', num_args = 1..)]
    targets: Vec<String>,
    /// The file that declares the targets [default: bench.toml here, or the repository's]
    #[arg(long, value_name = "FILE", requires = "targets")]
    config: Option<PathBuf>,
    /// The year that the pages show [default: the current UTC year]
    #[arg(long, env = "LEVELFIELD_YEAR", value_parser = clap::value_parser!(u16).range(1..=9999))]
    year: Option<u16>,
    /// The state of the users' store behind the server
    #[arg(long, value_enum, default_value_t, conflicts_with = "targets")]
    store: StoreState,
    /// Draws the random ids; the case names say it [default: from the clock]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Print the results as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let year = match args.year {
        Some(year) => year,
        None => this_year()?,
    };
    let suite = Suite {
        year,
        store: args.store,
        only_about_store: false,
        seed: args.seed.unwrap_or_else(seed_from_clock),
        interrupt: &Interrupt::on_signals().context("cannot listen for signals")?,
    };
    let passed = match &args.url {
        Some(url) => one(args, url, &suite),
        None => many(args, &suite),
    };
    match passed {
        Ok(passed) => Ok(ExitCode::from(u8::from(!passed))),
        // What was started has been stopped; there is nothing to say.
        Err(error) if error.is::<Interrupted>() => Ok(ExitCode::from(130)),
        Err(error) => Err(error),
    }
}

fn one(args: &Args, url: &str, suite: &Suite<'_>) -> anyhow::Result<bool> {
    let checked = check::check(&Origin::parse(url)?, suite)?;
    let passed = checked.passed();
    let mut out = std::io::stdout().lock();
    match args.json {
        true => serde_json::to_writer_pretty(&mut out, &checked.into_results(url))?,
        false => check::print(&mut out, &checked, url, args.store)?,
    }
    Ok(passed)
}

fn many(args: &Args, suite: &Suite<'_>) -> anyhow::Result<bool> {
    let config = Config::load(args.config.as_deref())?;
    let mut services = Services::default();
    let mut rows: Vec<matrix::Row> = Vec::new();
    for target in matrix::select(&config, &args.targets)? {
        if target.contract {
            rows.push(matrix::check_target(&config, target, &mut services, suite)?);
        }
    }
    note_not_run(&rows)?;
    let mut out = std::io::stdout().lock();
    if args.json {
        let checks: Vec<&ContractCheck> = rows.iter().filter_map(matrix::Row::check).collect();
        serde_json::to_writer_pretty(&mut out, &checks)?;
    } else {
        matrix::print(&mut out, &rows)?;
    }
    Ok(rows.iter().all(matrix::Row::passed))
}

pub fn seed_from_clock() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(1, |since| since.as_secs())
}

/// Adds what was not run to the file that `make test` sums up from.
fn note_not_run(rows: &[matrix::Row]) -> anyhow::Result<()> {
    let Some(path) = std::env::var_os("LEVELFIELD_NOT_RUN") else {
        return Ok(());
    };
    let mut file = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(&path)?;
    for row in rows {
        if let RowOutcome::Lacks(lack) = &row.outcome {
            writeln!(file, "not run: {} (missing {})", row.target, lack.missing())?;
        }
    }
    Ok(())
}

fn this_year() -> anyhow::Result<u16> {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH)?;
    Ok(contract::year(None, now.as_secs())?)
}
