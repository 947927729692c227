//! The subcommands: arguments in, exit code out.

pub mod bench;
pub mod build_times;
pub mod check;
pub mod compare;
pub mod completions;
pub mod doctor;
pub mod list;
pub mod report;
