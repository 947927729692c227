//! The contract as a native server: axum on tokio, the official MongoDB driver, askama pages.

mod app;
mod store;

use std::io::IsTerminal;
use std::net::SocketAddr;
use std::process::ExitCode;

use anyhow::Context;
use clap::Parser;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

use crate::app::App;
use crate::store::Users;

#[derive(Parser)]
#[command(version, about = "Serves the Levelfield contract")]
struct Options {
    /// Address to listen on
    #[arg(long, env = "LISTEN_ADDR", default_value = "127.0.0.1:8082")]
    listen: SocketAddr,

    /// MongoDB to read users from, as the driver's documentation describes it
    #[arg(
        long,
        env = "CONNECTION_STRING",
        default_value = "mongodb://127.0.0.1:27017/?directConnection=true",
        hide_env_values = true
    )]
    connection_string: String,

    /// Year that the pages show; the current one in UTC if not given
    #[arg(long, env = contract::YEAR_VARIABLE)]
    year: Option<String>,
}

#[tokio::main]
async fn main() -> ExitCode {
    match serve().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // One line, whatever RUST_BACKTRACE says: it is the user's input that is at fault.
            eprintln!("levelfield-native: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn serve() -> anyhow::Result<()> {
    tracing_subscriber::fmt()
        .with_max_level(tracing::Level::ERROR)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .init();
    let options = Options::parse();

    let app = App::new(Users::at(&options.connection_string).await?, options.year)?;
    let listener = TcpListener::bind(options.listen).await.with_context(|| {
        format!(
            "cannot listen on {}: choose another --listen",
            options.listen
        )
    })?;
    println!("Serving http://{}", listener.local_addr()?);
    axum::serve(listener, app.router())
        .with_graceful_shutdown(asked_to_stop()?)
        .await?;
    Ok(())
}

/// Completes on SIGTERM or SIGINT; what is in flight is then finished first.
fn asked_to_stop() -> anyhow::Result<impl Future<Output = ()>> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}
