//! The subcommands: arguments in, exit code out.

pub mod bench;
pub mod check;
pub mod compare;
pub mod doctor;
pub mod list;
pub mod report;
