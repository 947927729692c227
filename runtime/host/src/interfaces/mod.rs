//! What components may import beside WASI itself: one file for each interface. A new one is a file with a `link`, a line in
//! [`add_to_linker`] and one in [`PROVIDED`]; key-value and SQLite come next.

mod config;
mod variables;

use wasmtime::Result;
use wasmtime::component::Linker;

use crate::engine::Wasi;
use crate::state::State;

/// These interfaces as an import names them, without their versions.
pub const PROVIDED: [&str; 3] = [
    "fermyon:spin/variables",
    "spin:variables/variables",
    "wasi:config/store",
];

/// Defines all of them.
pub fn add_to_linker(linker: &mut Linker<State>, wasi: Wasi) -> Result<()> {
    variables::link(linker, wasi)?;
    config::link(linker)
}
