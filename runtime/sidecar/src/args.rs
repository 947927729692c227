//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, Subcommand, ValueEnum};

use crate::listener::Address;

/// HTTP in front of MongoDB, for programs that cannot open a connection to it.
///
/// Serves the queries that a configuration declares, and nothing else. MongoDB is where
/// CONNECTION_STRING in the environment says; without it, an embedded store with sample documents
/// answers. SIGTERM drains, SIGHUP reads the configuration, the tokens and the certificates
/// again.
#[derive(Debug, Parser)]
#[command(name = "levelfield-sidecar", version, max_term_width = 100)]
pub struct Args {
    /// Where to listen: HOST:PORT, or unix:PATH
    #[arg(
        long,
        env = "SIDECAR_LISTEN",
        default_value = "127.0.0.1:8090",
        value_name = "ADDRESS"
    )]
    pub listen: Address,

    /// Where documents come from [default: mongodb if CONNECTION_STRING is set, else embedded]
    #[arg(long, value_enum)]
    pub store: Option<StoreKind>,

    /// Documents for the embedded store: a file of MongoDB extended-JSON lines, for the collection
    /// users unless another is named; may be given more than once
    #[arg(long, value_name = "[COLLECTION=]FILE")]
    pub seed: Vec<String>,

    /// The queries to serve [default: built in, see `levelfield-sidecar config`]
    #[arg(long, env = "SIDECAR_CONFIG", value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// How long a request may take in all
    #[arg(long, default_value = "2s", value_parser = some_duration, value_name = "TIME")]
    pub deadline: Duration,

    /// How many requests may be at the store or wait for it; one more is answered 503
    #[arg(long, default_value_t = 512, value_parser = count, value_name = "N")]
    pub max_in_flight: usize,

    /// How many connections may be open; one more is answered 503 and closed
    #[arg(long, default_value_t = 1024, value_parser = count, value_name = "N")]
    pub max_connections: usize,

    /// A file with one or two bearer tokens, of which requests must show one; in place of
    /// SIDECAR_TOKEN in the environment
    #[arg(long, env = "SIDECAR_TOKEN_FILE", value_name = "FILE")]
    pub token_file: Option<PathBuf>,

    /// Allow an address that other machines can reach although no token is set
    #[arg(long)]
    pub insecure: bool,

    /// The certificate chain, in PEM, to serve HTTPS with
    #[arg(long, requires = "tls_key", value_name = "FILE")]
    pub tls_cert: Option<PathBuf>,

    /// The certificate's private key, in PEM
    #[arg(long, requires = "tls_cert", value_name = "FILE")]
    pub tls_key: Option<PathBuf>,

    /// Refuse clients without a certificate of this authority, in PEM
    #[arg(long, requires = "tls_cert", value_name = "FILE")]
    pub tls_client_ca: Option<PathBuf>,

    /// How many threads serve requests [default: one for each core, at most 4]
    #[arg(long, value_parser = count, value_name = "N")]
    pub threads: Option<usize>,

    /// On SIGTERM, how long to go on as before while /readyz already answers 503
    #[arg(long, default_value = "0s", value_parser = duration, value_name = "TIME")]
    pub drain_delay: Duration,

    /// On SIGTERM, how long requests under way may take to finish
    #[arg(long, default_value = "10s", value_parser = duration, value_name = "TIME")]
    pub grace: Duration,

    #[command(subcommand)]
    pub command: Option<Command>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum StoreKind {
    /// The server that CONNECTION_STRING names
    Mongodb,
    /// In memory
    Embedded,
    /// One made-up document for every query: what the sidecar itself costs
    Null,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Print the built-in configuration
    Config,
}

/// A number with its unit: `200ms`, `2s`, `1m`.
pub fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("{text:?} is not a time such as 200ms, 2s or 1m");
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit) = text.split_at(digits);
    let number: u64 = number.parse().map_err(|_| wrong())?;
    let millis = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        _ => return Err(wrong()),
    };
    // A day is longer than anything here needs, and far from any overflow.
    const DAY: u64 = 86_400_000;
    let total = number
        .checked_mul(millis)
        .filter(|total| *total <= DAY)
        .ok_or_else(wrong)?;
    Ok(Duration::from_millis(total))
}

fn some_duration(text: &str) -> Result<Duration, String> {
    duration(text).and_then(|time| {
        if time.is_zero() {
            Err("it is 0".into())
        } else {
            Ok(time)
        }
    })
}

/// Far more than any machine serves, and within what a semaphore can count.
const LARGEST_COUNT: usize = 1_000_000;

fn count(text: &str) -> Result<usize, String> {
    text.parse()
        .ok()
        .filter(|count| (1..=LARGEST_COUNT).contains(count))
        .ok_or_else(|| format!("it is a number from 1 to {LARGEST_COUNT}"))
}
