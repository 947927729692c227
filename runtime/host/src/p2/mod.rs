//! `wasi:http` 0.2 for guests: bindings of our own over slabs; bodies are `wasi:io` streams over the same pipes that 0.3
//! uses, so that both versions share everything behind this folder.

mod body;
mod client;
mod incoming;
mod outgoing;
mod serve;

use slab::Slab;
use wasmtime::Result;
use wasmtime::component::Linker;
use wasmtime_wasi::p2::bindings::io::error::Error as IoError;
use wasmtime_wasi_http::p2::bindings::http::types::{ErrorCode, HeaderError};

pub use self::serve::{Handler, serve};
use crate::both::fields;
use crate::outbound::Options;
use crate::pipe::BodyError;
use crate::state::State;

/// The interface that a 0.2 component exports, without its version.
pub const HANDLER: &str = "wasi:http/incoming-handler";

/// The HTTP resources of one store.
#[derive(Default)]
pub struct Tables {
    incoming_requests: Slab<incoming::IncomingRequest>,
    incoming_responses: Slab<incoming::IncomingResponse>,
    incoming_bodies: Slab<body::IncomingBody>,
    outgoing_requests: Slab<outgoing::OutgoingRequest>,
    outgoing_responses: Slab<outgoing::OutgoingResponse>,
    outgoing_bodies: Slab<body::OutgoingBody>,
    outparams: Slab<outgoing::Outparam>,
    options: Slab<Options>,
}

/// Defines `wasi:http/types` and `wasi:http/outgoing-handler`.
pub fn add_to_linker(linker: &mut Linker<State>) -> Result<()> {
    let mut types = linker.instance("wasi:http/types@0.2.12")?;
    fields::link::<HeaderError>(&mut types, "entries")?;
    incoming::link(&mut types)?;
    outgoing::link(&mut types)?;
    body::link(&mut types)?;
    client::link_options(&mut types)?;
    client::link_future(&mut types)?;
    types.func_wrap(
        "http-error-code",
        |store, (error,): (wasmtime::component::Resource<IoError>,)| {
            let error: &IoError = store.data().table.get(&error)?;
            let code = error.downcast_ref::<BodyError>().cloned();
            Ok((code.map(ErrorCode::from),))
        },
    )?;
    client::link(&mut linker.instance("wasi:http/outgoing-handler@0.2.12")?)
}
