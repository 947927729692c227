//! The subcommands: arguments in, exit code out.

pub mod check;
pub mod compare;
pub mod list;
pub mod report;
