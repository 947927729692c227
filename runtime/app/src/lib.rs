//! Everything of a Spin app that is not running wasm: the manifest, routes, headers, variables, outbound
//! permissions and files. [`load`] turns an app's files and the command line's settings into an [`App`],
//! checked to the end, that a host only has to run. Nothing in here knows of a wasm engine.

mod app;
mod arguments;
pub mod authority;
pub mod building;
mod component;
mod error;
mod files;
pub mod headers;
mod ids;
pub mod listing;
mod load;
mod locate;
mod logs;
mod manifest;
mod networks;
mod normalize;
pub mod outbound;
mod pattern;
mod refusals;
pub mod route;
mod runtime_config;
mod shapes;
mod source;
mod survey;
mod template;
mod triggers;
mod variables;
pub mod watching;

pub use app::{App, Component};
pub use arguments::{EnvironmentArgument, VariableArgument};
pub use error::Error;
pub use files::Mount;
pub use load::{LoadOptions, load};
pub use logs::{LogDirectory, Stream};
pub use networks::BlockedNetworks;
pub use source::Fetch;
pub use survey::{check_manifest, recipes, wasm_files, watched};
pub use variables::VariableError;
