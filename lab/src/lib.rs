//! The lab: checks servers against the contract, loads them under equal limits, and tells what came out.

pub mod analysis;
pub mod check;
pub mod cli;
pub mod commands;
pub mod compare;
pub mod config;
pub mod digest;
pub mod gates;
pub mod generators;
pub mod http;
pub mod interrupt;
pub mod limits;
pub mod matrix;
pub mod metric;
pub mod noise;
pub mod programs;
pub mod report;
pub mod results;
pub mod server;
pub mod services;
pub mod sockets;
pub mod stats;
pub mod usage;
