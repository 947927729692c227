//! A host for Spin HTTP apps on wasmtime: one thread a core, instances owned by a core, everything bounded.
//!
//! The way of a request: [`server`] takes it off a socket, [`core`] finds or makes an instance, [`instance`] lets the
//! guest work, [`p2`] and [`p3`] are what the guest sees of HTTP, [`outbound`] is how it reaches others.

mod adapt;
mod admin;
mod artifact;
mod both;
mod call;
pub mod cli;
mod code;
mod commands;
mod compile;
mod component;
mod core;
mod download;
mod drain;
mod engine;
mod error;
mod export;
mod failure;
mod headers;
mod instance;
mod interfaces;
mod limits;
mod log;
mod message;
mod metrics;
mod nodelay;
mod observed;
mod outbound;
mod p2;
mod p3;
mod pipe;
mod quota;
mod refused;
mod server;
mod state;
mod stdio;
mod tables;
mod trace;
mod up;
mod watch;

pub use commands::{build, routes};
pub use compile::compile;
pub use error::Error;
pub use log::say;
pub use outbound::tls::start as trust;
pub use up::up;
pub use watch::watch;
