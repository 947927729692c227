//! The lab: checks servers against the contract, loads them under equal limits, and tells what came out.

pub mod analysis;
pub mod check;
pub mod cli;
pub mod commands;
pub mod http;
pub mod metric;
pub mod results;
pub mod stats;
