//! HTTP in front of MongoDB, for programs that cannot open a connection to it: a WASI component, an
//! edge function, a sandboxed job.
//!
//! It serves the queries that its owner has declared and nothing else. It writes nothing to the
//! store, runs no code that a client sends, and lets a client choose values only, never syntax. The
//! queries are general; that the built-in ones are about users is a matter of `default.toml`.
//!
//! A request's way is `listener` (socket), `server` (connection), `service` (the steps in order),
//! `router` (query and parameters), `store` (documents), `shape` and `json` (bytes).

mod answer;
mod args;
mod auth;
mod cache;
mod config;
mod health;
mod json;
mod listener;
mod metrics;
mod pace;
mod param;
mod query;
mod quota;
mod router;
mod run;
mod server;
mod service;
mod shape;
mod store;
mod template;
mod tls;

pub use args::{Args, Command};
pub use config::DEFAULT as DEFAULT_CONFIG;
pub use run::run;
