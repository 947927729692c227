//! The host's own lines on stderr: as text for people, or one JSON object a line for machines.

use std::io::{IsTerminal, Write};
use std::sync::OnceLock;

use clap::{Args, ValueEnum};
use tracing::Level;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::{FormatTime, SystemTime};

static FORMAT: OnceLock<LogFormat> = OnceLock::new();

/// How the host's own lines are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    Text,
    Json,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Log")]
pub struct LogFlags {
    /// How the host's own lines on stderr are written; components' output stays as it is.
    #[arg(long, global = true, value_name = "FORMAT", default_value = "text")]
    log_format: LogFormat,

    /// What is logged: error, warn, info, debug, trace, or a filter such as levelfield_host=debug.
    #[arg(long, global = true, value_name = "LEVEL", env = "RUST_LOG", default_value = "warn", value_parser = filter)]
    log_level: String,
}

/// Checks a filter; it is parsed again when it is used, because it cannot be cloned.
fn filter(text: &str) -> Result<String, String> {
    match EnvFilter::builder().parse(text) {
        Ok(_) => Ok(text.to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

impl LogFlags {
    /// Logs so from now on.
    pub fn start(&self) {
        // Called once, by `main`.
        let _ = FORMAT.set(self.log_format);
        let colour = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
        let builder = tracing_subscriber::fmt()
            .with_env_filter(EnvFilter::new(&self.log_level))
            .with_writer(std::io::stderr);
        match self.log_format {
            LogFormat::Text => builder.with_ansi(colour).init(),
            LogFormat::Json => builder.json().init(),
        }
    }
}

/// Says something that whoever runs the host should see, whatever the level.
pub fn say(level: Level, message: &str) {
    if FORMAT.get() != Some(&LogFormat::Json) {
        eprintln!("{message}");
        return;
    }
    let mut time = String::new();
    // Writing into a string cannot fail.
    let _ = SystemTime.format_time(&mut Writer::new(&mut time));
    let line = serde_json::json!({
        "timestamp": time,
        "level": level.as_str(),
        "fields": { "message": message },
        "target": "levelfield_host",
    });
    // A closed stderr is no reason to fail.
    let _ = writeln!(std::io::stderr(), "{line}");
}
