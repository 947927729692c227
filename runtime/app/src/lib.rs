//! Everything of a Spin app that is not running wasm: the manifest, routes, headers, variables, outbound
//! permissions and files. [`load`] turns an app's files and the command line's settings into an [`App`],
//! checked to the end, that a host only has to run. Nothing in here knows of a wasm engine.

mod app;
mod error;
pub mod headers;
mod ids;
mod manifest;
pub mod outbound;
pub mod route;
mod variables;

pub use app::{App, Component, LoadOptions, Mount, load};
pub use error::Error;
pub use variables::VariableError;
