//! Starts the real programs that tests and benchmarks need, and stops them for certain.
//!
//! Everything here blocks and is bounded in time, so that it serves a plain test as well as an
//! async one. It starts servers of its own on free loopback ports; it never touches a database
//! that a person runs, unless that person names it in `LEVELFIELD_TEST_CONNECTION_STRING`.
//!
//! ```no_run
//! use std::{process::Command, time::Duration};
//! use testbed::{Process, Ready, built, free_port, mongo::Mongo};
//!
//! # fn main() -> testbed::Result<()> {
//! let store = Mongo::start()?;
//! let port = free_port();
//! let mut sidecar = Process::start(
//!     Command::new(built("levelfield-sidecar")?)
//!         .args(["--listen", &format!("127.0.0.1:{port}")])
//!         .env("CONNECTION_STRING", store.connection_string()),
//!     Ready::Http(format!("http://127.0.0.1:{port}/readyz")),
//!     Duration::from_secs(10),
//! )?;
//! assert!(sidecar.stop().success());
//! # Ok(())
//! # }
//! ```

pub mod http;
pub mod mongo;
mod places;
mod process;
mod spawner;

pub use places::{built, free_port, repo_root, tool};
pub use process::{Finished, Process, Ready, run};

use std::io::Write;

pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a program could not be started.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The program is not on this machine: a reason not to run a test, to be said aloud.
    #[error(transparent)]
    Missing(#[from] Missing),
    /// The program is there but did not do what was asked of it: a failure.
    #[error("{0}")]
    Failed(String),
}

/// A program that is not on this machine, and how to get it.
#[derive(Debug, Clone, thiserror::Error)]
#[error("missing {what}; {remedy}")]
pub struct Missing {
    pub what: String,
    pub remedy: String,
}

/// Says on standard error, past the test harness's capture, that a part was not run and why, and
/// adds the line to the file that `LEVELFIELD_NOT_RUN` names, so that `make test` can repeat it at
/// the end.
///
/// # Panics
/// With `STRICT=1` in the environment: then what cannot run is a failure.
pub fn not_run(part: &str, missing: &Missing) {
    let line = format!("not run: {part} (missing {})\n", missing.what);
    // The harness captures the macros, not the handle. A closed stderr is no reason to fail.
    let _ = std::io::stderr().write_all(line.as_bytes());
    if let Some(path) = std::env::var_os("LEVELFIELD_NOT_RUN") {
        std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(&path)
            .and_then(|mut file| file.write_all(line.as_bytes()))
            .unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
    }
    assert!(
        std::env::var("STRICT").as_deref() != Ok("1"),
        "STRICT=1: {part}: {missing}"
    );
}
