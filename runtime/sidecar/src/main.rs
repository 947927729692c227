//! The binary: arguments in, exit code out. 0 after SIGTERM, 1 when it cannot run, 2 when it was
//! called wrongly.

use std::process::ExitCode;

use clap::Parser;
use levelfield_sidecar::{Args, Command, DEFAULT_CONFIG, run};
use tracing_subscriber::EnvFilter;

fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) if !error.use_stderr() => error.exit(),
        Err(error) => return fail(2, &one_line(&error)),
    };
    if let Some(Command::Config) = args.command {
        print!("{DEFAULT_CONFIG}");
        return ExitCode::SUCCESS;
    }
    let filter = EnvFilter::try_from_env("SIDECAR_LOG").unwrap_or_else(|_| EnvFilter::new("info"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_target(false)
        .with_ansi(false)
        .init();
    let threads = args.threads.unwrap_or_else(|| {
        std::thread::available_parallelism().map_or(1, |cores| cores.get().min(4))
    });
    // Requests need little; a thread for each core of a large machine would only cost memory.
    let runtime = if threads == 1 {
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
    } else {
        tokio::runtime::Builder::new_multi_thread()
            .worker_threads(threads)
            .enable_all()
            .build()
    };
    let result = runtime
        .map_err(anyhow::Error::from)
        .and_then(|runtime| runtime.block_on(run(args)));
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(1, &format!("{error:#}")),
    }
}

fn fail(code: u8, message: &str) -> ExitCode {
    eprintln!("levelfield-sidecar: {message}");
    ExitCode::from(code)
}

/// What clap says, without the usage that buries it.
fn one_line(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let message: Vec<_> = text
        .lines()
        .take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more"))
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    format!(
        "{} (see --help)",
        message.join("; ").trim_start_matches("error: ")
    )
}
