//! The command line: what can be asked of the host, and its defaults.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{BoolishValueParser, FalseyValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use levelfield_app::{EnvironmentArgument, LoadOptions, VariableArgument};

use crate::download::Download;
use crate::limits::{Limits, Range};
use crate::log::LogFlags;
use crate::refused::RefusedFlags;
use crate::server::Address;
use crate::server::tls::Files;

/// Runs Spin HTTP apps.
#[derive(Debug, Parser)]
#[command(name = "levelfield-host", version)]
pub struct Cli {
    #[command(flatten)]
    pub log: LogFlags,

    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serves an app until it is told to stop.
    Up(Box<Up>),
    /// Serves an app, and builds and serves it again whenever its files change.
    Watch(Box<Watch>),
    /// Compiles the app's components ahead of time, so that `up` starts from them in milliseconds.
    ///
    /// Each component's artifact (.cwasm) is written beside its wasm file, or where --out says, and its path printed. Start
    /// from it with `up --from FILE.cwasm`, or name it as a component's `source`. It fits this version of the program
    /// and this kind of machine; elsewhere `up` says so and ends. An artifact is native code and is not checked before it
    /// runs: start only from artifacts that you would start as programs.
    Compile(Compile),
    /// Runs the build commands of the app's components.
    Build(Build),
    /// Prints the app's routes, or which one a path takes and why.
    Routes(Routes),
}

/// Which app, and what is said of it beside its manifest.
#[derive(Debug, Args)]
#[command(next_help_heading = "App")]
pub struct AppFlags {
    /// The app: a manifest, a directory with a spin.toml, or a single .wasm, .wat or .cwasm file [default: spin.toml here or above].
    #[arg(short, long, visible_alias = "from-file", value_name = "PATH")]
    pub from: Option<PathBuf>,

    /// Add to the environment of every component; repeatable.
    #[arg(short, long, value_name = "NAME=VALUE")]
    env: Vec<EnvironmentArgument>,

    /// Set a variable of the app, NAME=VALUE or NAME=@FILE, or all of a file, @FILE.json or @FILE.toml; repeatable.
    #[arg(long, value_name = "NAME=VALUE")]
    variable: Vec<VariableArgument>,

    /// Where variables come from and other settings, as TOML.
    #[arg(long, value_name = "FILE", env = "RUNTIME_CONFIG_FILE")]
    runtime_config_file: Option<PathBuf>,

    /// Where the app's state is kept; empty for nowhere [default: .spin beside the manifest].
    #[arg(long, value_name = "DIRECTORY")]
    state_dir: Option<String>,

    /// Where the components' output is kept; empty for nowhere [default: logs in the state directory].
    #[arg(short = 'L', long, value_name = "DIRECTORY", env = "SPIN_LOG_DIR")]
    log_dir: Option<String>,

    /// Use the variants of this profile in the manifest.
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,

    /// Only these components; repeatable.
    #[arg(short, long, value_name = "ID")]
    component_id: Vec<String>,

    /// Mount directories of components themselves instead of copies.
    #[arg(long)]
    direct_mounts: bool,

    /// Let components write to their files, for as long as the host runs.
    #[arg(long)]
    allow_transient_write: bool,

    /// Where copies of the components' files go [default: a temporary directory].
    #[arg(long, alias = "tmp", value_name = "DIRECTORY")]
    temp: Option<PathBuf>,

    /// Where downloaded components are kept.
    #[arg(long, value_name = "DIRECTORY")]
    cache_dir: Option<PathBuf>,
}

impl AppFlags {
    pub fn options(&self) -> LoadOptions<'static> {
        LoadOptions {
            from: self.from.clone(),
            environment: self.env.clone(),
            variables: self.variable.clone(),
            runtime_config: self.runtime_config_file.clone(),
            state_dir: self.state_dir.clone(),
            log_dir: self.log_dir.clone(),
            profile: self.profile.clone(),
            components: self.component_id.clone(),
            direct_mounts: self.direct_mounts,
            allow_transient_write: self.allow_transient_write,
            temp: self.temp.clone(),
            cache_dir: self.cache_dir.clone(),
            fetch: Some(&Download),
        }
    }
}

/// How the routes are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Text,
    Json,
}

#[derive(Debug, Args)]
pub struct Compile {
    /// The app: a manifest, a directory with a spin.toml, or a single .wasm or .wat file [default: spin.toml here or above].
    #[arg(short, long, visible_alias = "from-file", value_name = "PATH")]
    pub from: Option<PathBuf>,

    /// Where the artifact goes; for several components a directory [default: beside each wasm file].
    #[arg(short, long, value_name = "PATH")]
    pub out: Option<PathBuf>,

    /// Use the variants of this profile in the manifest.
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,

    /// Only these components; repeatable.
    #[arg(short, long, value_name = "ID")]
    pub component_id: Vec<String>,

    /// Where downloaded components are kept.
    #[arg(long, value_name = "DIRECTORY")]
    pub cache_dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Build {
    #[command(flatten)]
    pub app: AppFlags,
}

#[derive(Debug, Args)]
pub struct Routes {
    /// Say which route this path takes.
    #[arg(value_name = "PATH")]
    pub path: Option<String>,

    /// How the routes are printed.
    #[arg(long, default_value = "text")]
    pub format: Format,

    #[command(flatten)]
    pub app: AppFlags,
}

#[derive(Debug, Args)]
pub struct Up {
    /// Where to listen, as host:port or unix:PATH; port 0 takes a free one.
    #[arg(
        long,
        value_name = "ADDRESS",
        default_value = "127.0.0.1:3000",
        env = "SPIN_HTTP_LISTEN_ADDR"
    )]
    pub listen: Address,

    /// When the port is taken, try the next ones, up to ten.
    #[arg(long)]
    pub find_free_port: bool,

    /// Build the app first.
    #[arg(long, env = "SPIN_ALWAYS_BUILD", value_parser = BoolishValueParser::new())]
    pub build: bool,

    /// Do not repeat on stderr what components write.
    #[arg(short, long)]
    pub quiet: bool,

    /// Repeat on stderr only what these components write; repeatable.
    #[arg(long, value_name = "ID", conflicts_with = "quiet")]
    pub follow: Vec<String>,

    /// Empty the log files first.
    #[arg(long)]
    pub truncate_logs: bool,

    /// How the routes are printed.
    #[arg(long, default_value = "text")]
    pub format: Format,

    /// Cores to use [default: all].
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub workers: Option<usize>,

    /// Serve /metrics, /healthz and /readyz here, as IP:PORT [default: nowhere].
    #[arg(long, value_name = "ADDRESS")]
    pub admin_listen: Option<SocketAddr>,

    /// Seconds to go on serving, as not ready, after being told to stop.
    #[arg(long, value_name = "SECONDS", default_value = "0", value_parser = seconds)]
    pub drain_delay: Duration,

    /// Seconds that requests in flight may take to finish after that.
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = seconds)]
    pub drain_grace: Duration,

    /// Take each instance's memory from the system instead of from a pool: starts are cheaper, instances dearer.
    #[arg(long)]
    pub disable_pooling: bool,

    /// Taken because Spin has it, and without effect: no compiled code is cached, see `compile`.
    #[arg(long, env = "DISABLE_WASMTIME_CACHE", value_parser = FalseyValueParser::new())]
    pub disable_cache: bool,

    #[command(flatten)]
    pub tls: TlsFlags,

    #[command(flatten)]
    pub app: AppFlags,

    #[command(flatten)]
    pub limits: LimitFlags,

    #[command(flatten)]
    pub refused: RefusedFlags,
}

/// Serve HTTPS instead of HTTP.
#[derive(Debug, Args)]
pub struct TlsFlags {
    /// Serve HTTPS with this certificate chain, a PEM file; read again when it changes.
    #[arg(long, value_name = "FILE", env = "SPIN_TLS_CERT", requires = "tls_key")]
    tls_cert: Option<PathBuf>,

    /// The certificate's private key, a PEM file.
    #[arg(long, value_name = "FILE", env = "SPIN_TLS_KEY", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
}

impl TlsFlags {
    /// Both files, or none.
    pub fn files(&self) -> Option<Files> {
        let (certificate, key) = (self.tls_cert.clone()?, self.tls_key.clone()?);
        Some(Files { certificate, key })
    }
}

#[derive(Debug, Args)]
pub struct Watch {
    /// Milliseconds without a further change before one counts.
    #[arg(long, value_name = "MILLISECONDS", default_value = "100", value_parser = milliseconds)]
    pub debounce: Duration,

    /// Clear the screen before each start.
    #[arg(long)]
    pub clear: bool,

    /// Only start anew; never build.
    #[arg(long)]
    pub skip_build: bool,

    #[command(flatten)]
    pub up: Up,
}

/// Limits. Each is a clear answer when it is reached.
#[derive(Debug, Args)]
#[command(next_help_heading = "Limits")]
pub struct LimitFlags {
    /// Calls in one instance's life, a number or a range a..b [default: 128].
    #[arg(long, value_name = "N")]
    max_instance_reuse_count: Option<Range>,

    /// Calls at a time in one instance, a number or a range a..b [default: 16].
    #[arg(long, value_name = "N")]
    max_instance_concurrent_reuse_count: Option<Range>,

    /// Calls in the life of an instance of a WASI 0.2 component, which may not expect more than one [default: 1].
    #[arg(long, value_name = "N")]
    max_p2_instance_reuse_count: Option<Range>,

    /// Seconds that an instance may wait unused [default: 1].
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    idle_instance_timeout: Option<Duration>,

    /// Seconds from a request's head to the response's head, computing and waiting [default: 30].
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    request_timeout: Option<Duration>,

    /// Bytes of memory that one instance may have in all [default: 268435456].
    #[arg(long, value_name = "BYTES", env = "SPIN_MAX_INSTANCE_MEMORY")]
    max_instance_memory: Option<usize>,

    /// Instances alive at a time [default: 1000].
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    max_instances: Option<usize>,

    /// Requests that components work on at a time [default: 1000].
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    max_concurrent_requests: Option<usize>,

    /// Requests that may wait for room; more are answered 503 [default: 2000].
    #[arg(long, value_name = "N")]
    max_queued_requests: Option<usize>,

    /// Bytes of a request's body; more are answered 413 [default: 33554432].
    #[arg(long, value_name = "BYTES")]
    max_request_body: Option<u64>,

    /// Bytes of a request's head, at least 8192; more are answered 431 [default: 65536].
    #[arg(long, visible_alias = "http1-max-buf-size", value_name = "BYTES", env = "SPIN_HTTP1_MAX_BUF_SIZE", value_parser = head_size)]
    max_request_head: Option<usize>,

    /// Bytes of a request's path and query; more are answered 414 [default: 16384].
    #[arg(long, value_name = "BYTES")]
    max_path_length: Option<usize>,

    /// Seconds that a client may take for a request's head and pause within its body [default: 30].
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    client_timeout: Option<Duration>,

    /// Outbound connections to one host [default: 512].
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    max_outbound_connections: Option<usize>,

    /// Seconds to connect to an outbound host [default: 10].
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    outbound_connect_timeout: Option<Duration>,

    /// Seconds to wait for an outbound response's head [default: 60].
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    outbound_first_byte_timeout: Option<Duration>,

    /// Seconds that an outbound response may pause [default: 60].
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    outbound_between_bytes_timeout: Option<Duration>,
}

impl LimitFlags {
    pub fn limits(&self) -> Limits {
        let d = Limits::default();
        Limits {
            instances: self.max_instances.unwrap_or(d.instances),
            instance_memory: self.max_instance_memory.unwrap_or(d.instance_memory),
            instance_reuse: self.max_instance_reuse_count.unwrap_or(d.instance_reuse),
            p2_instance_reuse: self
                .max_p2_instance_reuse_count
                .unwrap_or(d.p2_instance_reuse),
            instance_concurrency: self
                .max_instance_concurrent_reuse_count
                .unwrap_or(d.instance_concurrency),
            instance_idle: self.idle_instance_timeout.unwrap_or(d.instance_idle),
            concurrent_requests: self
                .max_concurrent_requests
                .unwrap_or(d.concurrent_requests),
            queue: self.max_queued_requests.unwrap_or(d.queue),
            request_time: self.request_timeout.unwrap_or(d.request_time),
            request_body: self.max_request_body.unwrap_or(d.request_body),
            request_head: self.max_request_head.unwrap_or(d.request_head),
            path: self.max_path_length.unwrap_or(d.path),
            client_pause: self.client_timeout.unwrap_or(d.client_pause),
            outbound_connections: self
                .max_outbound_connections
                .unwrap_or(d.outbound_connections),
            outbound_connect: self.outbound_connect_timeout.unwrap_or(d.outbound_connect),
            outbound_first_byte: self
                .outbound_first_byte_timeout
                .unwrap_or(d.outbound_first_byte),
            outbound_between_bytes: self
                .outbound_between_bytes_timeout
                .unwrap_or(d.outbound_between_bytes),
        }
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    // The units that Spin takes, and seconds where there is none.
    let units = [("ms", 0.001), ("s", 1.0), ("m", 60.0), ("h", 3600.0)];
    let (number, unit) = units
        .iter()
        .find_map(|(unit, seconds)| Some((text.strip_suffix(unit)?, *seconds)))
        .unwrap_or((text, 1.0));
    if text.contains("..") {
        return Err("a range is not taken here; give one number of seconds".into());
    }
    let number: f64 = number
        .parse()
        .map_err(|_| "it must be a number of seconds, or one with ms, s, m or h".to_owned())?;
    // Bounded, so that a deadline can always be computed.
    if !(0.0..=31_536_000.0).contains(&(number * unit)) {
        return Err("it must be between 0 seconds and a year".into());
    }
    Ok(Duration::from_secs_f64(number * unit))
}

fn milliseconds(text: &str) -> Result<Duration, String> {
    match text.parse() {
        Ok(number @ 0..=60_000) => Ok(Duration::from_millis(number)),
        _ => Err("it must be a number from 0 to 60000".into()),
    }
}

fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number) if number >= 1 => Ok(number),
        _ => Err("it must be a number of 1 or more".into()),
    }
}

fn head_size(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number) if number >= 8192 => Ok(number),
        _ => Err("it must be a number of 8192 or more".into()),
    }
}
