//! The sidecar as its users meet it: the real binary, over real sockets, in front of real servers.

mod bad_input;
mod clients;
mod contract;
mod faults;
mod harness;
mod lifecycle;
mod proxy;
mod queries;
mod secure;
