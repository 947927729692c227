//! The sidecar as its users meet it: the real binary, over real sockets, in front of real servers.

mod bad_input;
mod cache;
mod clients;
mod contract;
mod faults;
mod harness;
mod lifecycle;
mod logs;
mod metrics;
mod proxy;
mod queries;
mod secure;
