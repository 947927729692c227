//! Slabs as resource tables: a guest's handles are checked by wasmtime, what it holds behind them is a slab's key.

use slab::Slab;
use wasmtime::component::Resource;
use wasmtime::{Result, format_err};

pub fn insert<T: 'static>(slab: &mut Slab<T>, value: T) -> Result<Resource<T>> {
    Ok(Resource::new_own(u32::try_from(slab.insert(value))?))
}

pub fn get<'a, T: 'static>(slab: &'a Slab<T>, resource: &Resource<T>) -> Result<&'a T> {
    slab.get(resource.rep() as usize).ok_or_else(unknown)
}

pub fn get_mut<'a, T: 'static>(slab: &'a mut Slab<T>, resource: &Resource<T>) -> Result<&'a mut T> {
    slab.get_mut(resource.rep() as usize).ok_or_else(unknown)
}

pub fn take<T: 'static>(slab: &mut Slab<T>, resource: &Resource<T>) -> Result<T> {
    slab.try_remove(resource.rep() as usize).ok_or_else(unknown)
}

fn unknown() -> wasmtime::Error {
    format_err!("a handle to a resource that is gone")
}
