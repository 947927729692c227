//! The subcommands: arguments in, exit code out.

pub mod check;
pub mod list;
