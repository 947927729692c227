//! Why the host does not start: one variant for each thing that can go wrong, each one line with its way out.

use std::net::SocketAddr;
use std::path::PathBuf;

use crate::server::Address;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    App(#[from] levelfield_app::Error),

    #[error("cannot read {path}: {source}")]
    Read {
        path: PathBuf,
        source: std::io::Error,
    },

    #[error("component `{component}`: {path} is not a wasm component: {reason}")]
    NotAComponent {
        component: String,
        path: PathBuf,
        reason: String,
    },

    #[error(
        "component `{component}`: {path} is a core module that cannot be made a component ({reason}); build it for wasm32-wasip2"
    )]
    Adapt {
        component: String,
        path: PathBuf,
        reason: String,
    },

    #[error(
        "component `{component}`: {path} cannot be used: {reason}; compile the component's .wasm again with this program on this machine"
    )]
    Artifact {
        component: String,
        path: PathBuf,
        reason: String,
    },

    #[error("cannot write {path}: {source}")]
    Write {
        path: PathBuf,
        source: std::io::Error,
    },

    #[error("--out {path}: the app has several components; name a directory that is there")]
    OutNotADirectory { path: PathBuf },

    #[error(
        "component `{component}` exports {found}; it must export exactly one of wasi:http/handler@0.3.x and wasi:http/incoming-handler@0.2.x"
    )]
    Handler { component: String, found: String },

    #[error("component `{component}` imports `{import}`, which this host does not provide{hint}")]
    Import {
        component: String,
        import: String,
        hint: String,
    },

    #[error("component `{component}` cannot be linked: {reason}")]
    Link { component: String, reason: String },

    #[error(
        "cannot listen on {address}: the port is taken by another program; stop it or choose another with --listen"
    )]
    PortTaken { address: SocketAddr },

    #[error(
        "cannot listen on unix:{path}: another program listens on it; stop it or choose another path with --listen"
    )]
    SocketTaken { path: PathBuf },

    #[error(
        "cannot listen on unix:{path}: the file is no socket and is left alone; remove it or choose another path with --listen"
    )]
    NotASocket { path: PathBuf },

    #[error("TLS: {0}")]
    Tls(String),

    #[error("{flag}: {reason}")]
    Refused {
        flag: &'static str,
        reason: &'static str,
    },

    #[error("cannot listen on {address}: {source}")]
    Listen {
        address: Address,
        source: std::io::Error,
    },

    #[error("cannot listen on {address} for --admin-listen: {source}")]
    AdminListen {
        address: SocketAddr,
        source: std::io::Error,
    },

    #[error("SSL_CERT_FILE={path}: {reason}")]
    CertFile { path: PathBuf, reason: String },

    #[error("{variable}={value}: {reason}")]
    Otel {
        variable: String,
        value: String,
        reason: String,
    },

    #[error("--follow {id}: the app has no such component")]
    NoSuchComponent { id: String },

    #[error("wasm engine: {0}")]
    Engine(String),

    #[error("{what}: {source}")]
    Io {
        what: String,
        source: std::io::Error,
    },
}
