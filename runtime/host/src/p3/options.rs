//! `wasi:http/types.request-options`: how long a guest is ready to wait for an outbound request.

use std::time::Duration;

use wasmtime::component::{LinkerInstance, Resource, ResourceType};
use wasmtime::{Result, StoreContextMut};
use wasmtime_wasi_http::p3::bindings::http::types::RequestOptionsError;

use crate::outbound::Options as OutboundOptions;
use crate::state::State;
use crate::tables::{get, get_mut, insert, take};

type Store<'a> = StoreContextMut<'a, State>;
/// Options, and whether the guest may change them.
pub type Slot = (OutboundOptions, bool);
type Handle = Resource<Slot>;
type Field = fn(&mut OutboundOptions) -> &mut Option<Duration>;

pub fn link(types: &mut LinkerInstance<'_, State>) -> Result<()> {
    types.resource(
        "request-options",
        ResourceType::host::<Slot>(),
        |mut store, rep| {
            take(&mut store.data_mut().http03.options, &Handle::new_own(rep)).map(drop)
        },
    )?;
    types.func_wrap(
        "[constructor]request-options",
        |mut store: Store<'_>, (): ()| {
            let options = (OutboundOptions::default(), true);
            Ok((insert(&mut store.data_mut().http03.options, options)?,))
        },
    )?;
    types.func_wrap(
        "[method]request-options.clone",
        |mut store: Store<'_>, (this,): (Handle,)| {
            let table = &mut store.data_mut().http03.options;
            let copy = (get(table, &this)?.0.clone(), true);
            Ok((insert(table, copy)?,))
        },
    )?;
    timeout(types, "connect-timeout", |o| &mut o.connect)?;
    timeout(types, "first-byte-timeout", |o| &mut o.first_byte)?;
    timeout(types, "between-bytes-timeout", |o| &mut o.between_bytes)
}

/// The getter and the setter of one time, in nanoseconds.
fn timeout(types: &mut LinkerInstance<'_, State>, name: &str, field: Field) -> Result<()> {
    types.func_wrap(
        &format!("[method]request-options.get-{name}"),
        move |mut store: Store<'_>, (this,): (Handle,)| {
            let (options, _) = get_mut(&mut store.data_mut().http03.options, &this)?;
            let nanoseconds =
                field(options).map(|time| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
            Ok((nanoseconds,))
        },
    )?;
    types.func_wrap(
        &format!("[method]request-options.set-{name}"),
        move |mut store: Store<'_>, (this, time): (Handle, Option<u64>)| {
            let (options, mutable) = get_mut(&mut store.data_mut().http03.options, &this)?;
            if !*mutable {
                return Ok((Err(RequestOptionsError::Immutable),));
            }
            *field(options) = time.map(Duration::from_nanos);
            Ok((Ok(()),))
        },
    )
}
