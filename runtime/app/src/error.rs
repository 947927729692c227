//! One error for everything that can be wrong with an app: what failed, on which input, what to do next.

use std::path::PathBuf;

/// Why an app cannot be loaded. Every message is one line.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("cannot read {path}: {source}")]
    Read {
        path: PathBuf,
        source: std::io::Error,
    },

    #[error("{path}:{line}:{column}: {message}")]
    Syntax {
        path: PathBuf,
        line: usize,
        column: usize,
        message: String,
    },

    #[error("{path}: {message}")]
    Manifest { path: PathBuf, message: String },

    #[error("{path}: {who} needs `{field}`, which this host does not provide; {way_out}")]
    Unsupported {
        path: PathBuf,
        who: String,
        field: String,
        way_out: String,
    },

    #[error("{path}: component `{component}`: allowed_outbound_hosts entry `{entry}`: {message}")]
    AllowedHost {
        path: PathBuf,
        component: String,
        entry: String,
        message: String,
    },

    #[error("{path}: component `{component}`: no wasm file at {wasm}; build the app first")]
    NoWasm {
        path: PathBuf,
        component: String,
        wasm: PathBuf,
    },
}
