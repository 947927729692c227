//! The binary: parse, log, run, exit with a code that says how it went.

use std::process::ExitCode;

use clap::Parser;
use levelfield_host::cli::{Cli, Command};
use tracing::Level;

/// Instances come and go with many small allocations.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    no_backtraces_of_errors();
    let cli = Cli::parse();
    cli.log.start();
    // Every command may connect to others.
    let result = levelfield_host::trust().and_then(|()| match &cli.command {
        Command::Up(up) => levelfield_host::up(up),
        Command::Watch(watch) => levelfield_host::watch(watch),
        Command::Compile(compile) => levelfield_host::compile(compile),
        Command::Build(build) => levelfield_host::build(&build.app),
        Command::Routes(routes) => levelfield_host::routes(routes),
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            levelfield_host::say(Level::ERROR, &format!("error: {error}"));
            ExitCode::FAILURE
        }
    }
}

/// `RUST_BACKTRACE=1` is for panics here. wasmtime would collect a backtrace for each error too, and it makes one
/// whenever an instance ends: a third of what an instance costs.
#[allow(unsafe_code)]
fn no_backtraces_of_errors() {
    if std::env::var_os("RUST_LIB_BACKTRACE").is_none() {
        // SAFETY: the first act of `main`, before any other thread that could read the environment.
        unsafe { std::env::set_var("RUST_LIB_BACKTRACE", "0") };
    }
}
