//! `wasi:http` 0.3 for guests: bindings of our own over slabs, with bodies piped as soon as they are made, so that a
//! guest which does not wait is entered once a request.

mod body;
mod client;
mod options;
mod request;
mod response;
mod serve;

use slab::Slab;
use wasmtime::Result;
use wasmtime::component::Linker;
use wasmtime_wasi_http::p3::bindings::http::types::HeaderError;

pub use self::request::GuestRequest;
pub use self::response::GuestResponse;
pub use self::serve::{Handler, serve};
use crate::both::fields;
use crate::state::State;

/// The interface that a 0.3 component exports, without its version.
pub const HANDLER: &str = "wasi:http/handler";

/// The HTTP resources of one store. A guest's handles are checked by wasmtime; ours are slab keys.
#[derive(Default)]
pub struct Tables {
    requests: Slab<GuestRequest>,
    responses: Slab<GuestResponse>,
    options: Slab<options::Slot>,
}

/// Defines `wasi:http/types` and `wasi:http/client`.
pub fn add_to_linker(linker: &mut Linker<State>) -> Result<()> {
    let mut types = linker.instance("wasi:http/types@0.3.0")?;
    fields::link::<HeaderError>(&mut types, "copy-all")?;
    options::link(&mut types)?;
    request::link(&mut types)?;
    response::link(&mut types)?;
    client::link(&mut linker.instance("wasi:http/client@0.3.0")?)
}
