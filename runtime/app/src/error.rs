//! One error for everything that can be wrong with an app: what failed, on which input, what to do next.

use std::io;
use std::path::PathBuf;

use crate::variables::VariableError;

/// Why an app cannot be loaded or built. Every message is one line.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("no spin.toml in {directory} or above it; name one with --from")]
    NoManifest { directory: PathBuf },

    #[error("cannot read {path}: {source}")]
    Read { path: PathBuf, source: io::Error },

    #[error("cannot write {path}: {source}")]
    Write { path: PathBuf, source: io::Error },

    /// The file is not TOML, or not of the shape it should have.
    #[error("{path}:{line}:{column}: {message}")]
    Syntax {
        path: PathBuf,
        line: usize,
        column: usize,
        message: String,
    },

    /// The file's shape is right and what it says is not. `at` names the place within it.
    #[error("{path}: {at}: {message}")]
    Invalid {
        path: PathBuf,
        at: String,
        message: String,
    },

    /// Something that Spin provides and this host does not.
    #[error("{path}: {at} needs `{field}`, which this host does not provide; {way_out}")]
    Unsupported {
        path: PathBuf,
        at: String,
        field: String,
        way_out: &'static str,
    },

    #[error(
        "{path}: component `{component}`: no wasm file at {wasm}; build the app first (--build, or `build`)"
    )]
    NoWasm {
        path: PathBuf,
        component: String,
        wasm: PathBuf,
    },

    #[error(
        "component `{component}`: {wasm} has the digest sha256:{found}, the manifest wants {wanted}"
    )]
    Digest {
        component: String,
        wasm: PathBuf,
        wanted: String,
        found: String,
    },

    #[error("component `{component}`: cannot get {url}: {message}")]
    Fetch {
        component: String,
        url: String,
        message: String,
    },

    #[error(
        "no value for required variable(s) {names}; give one with --variable {first}=VALUE or SPIN_VARIABLE_{upper}",
        upper = first.to_ascii_uppercase()
    )]
    NoValue { names: String, first: String },

    #[error(transparent)]
    Variable(#[from] VariableError),

    #[error("unknown component {unknown}; the app has {known}")]
    UnknownComponent { unknown: String, known: String },

    #[error("component `{component}`: build command `{command}` failed: {message}")]
    Build {
        component: String,
        command: String,
        message: String,
    },
}

/// Names for a message: `` `a`, `b` ``.
pub(crate) fn quoted<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    names
        .into_iter()
        .map(|name| format!("`{name}`"))
        .collect::<Vec<_>>()
        .join(", ")
}

/// Keeps a message that repeats an input with line breaks on one line.
pub(crate) fn one_line(text: &str) -> String {
    text.replace('\n', "\\n").replace('\r', "\\r")
}
