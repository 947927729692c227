//! `levelfield check`: exit code 0 when every case passes, 1 when one fails, 2 when it could not be asked.

use std::process::ExitCode;

use crate::check::{self, StoreState};
use crate::http::Origin;

#[derive(clap::Args)]
pub struct Args {
    /// The server: http://127.0.0.1:8083
    #[arg(long)]
    url: String,
    /// The year that the pages show [default: the current UTC year]
    #[arg(long, env = "LEVELFIELD_YEAR", value_parser = clap::value_parser!(u16).range(1..=9999))]
    year: Option<u16>,
    /// The state of the users' store behind the server
    #[arg(long, value_enum, default_value_t)]
    store: StoreState,
    /// Print the results as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let origin = Origin::parse(&args.url)?;
    let year = match args.year {
        Some(year) => year,
        None => this_year()?,
    };
    let checked = check::check(&origin, year, args.store)?;
    let passed = checked.passed();
    let mut out = std::io::stdout().lock();
    if args.json {
        serde_json::to_writer_pretty(&mut out, &checked.into_results(&args.url))?;
    } else {
        check::print(&mut out, &checked, &args.url, args.store)?;
    }
    Ok(ExitCode::from(u8::from(!passed)))
}

fn this_year() -> anyhow::Result<u16> {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH)?;
    Ok(contract::year(None, now.as_secs())?)
}
