//! Writes the report of a synthetic run (nothing in it was measured) into a directory: what the page's tests open.
//!
//! `cargo build --release --workspace --examples && target/release/examples/synthetic-report DIR`

#[path = "../tests/synthetic/mod.rs"]
#[allow(dead_code)] // shared with the integration tests, which use the rest
mod synthetic;

use std::path::PathBuf;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let dir = std::env::args_os()
        .nth(1)
        .map(PathBuf::from)
        .ok_or("name a directory to write to")?;
    std::fs::create_dir_all(&dir)?;
    let results = synthetic::house(6);
    results.write(&dir)?;
    lab::report::Report::of(&results).write(&dir)?;
    Ok(())
}
