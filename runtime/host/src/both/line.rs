//! The parts of a request's [`Line`], each read and written by a function of its own.

use slab::Slab;
use wasmtime::component::{LinkerInstance, Resource};
use wasmtime::{Result, StoreContextMut};
// Those of 0.3 are the same.
use wasmtime_wasi_http::p2::bindings::http::types::{Method, Scheme};

use crate::message::Line;
use crate::outbound;
use crate::state::State;
use crate::tables::{get, get_mut};

type Store<'a> = StoreContextMut<'a, State>;

fn method_out(method: &http::Method) -> Method {
    match method.as_str() {
        "GET" => Method::Get,
        "HEAD" => Method::Head,
        "POST" => Method::Post,
        "PUT" => Method::Put,
        "DELETE" => Method::Delete,
        "CONNECT" => Method::Connect,
        "OPTIONS" => Method::Options,
        "TRACE" => Method::Trace,
        "PATCH" => Method::Patch,
        other => Method::Other(other.to_owned()),
    }
}

fn method_in(method: Method) -> Result<http::Method, ()> {
    Ok(match method {
        Method::Get => http::Method::GET,
        Method::Head => http::Method::HEAD,
        Method::Post => http::Method::POST,
        Method::Put => http::Method::PUT,
        Method::Delete => http::Method::DELETE,
        Method::Connect => http::Method::CONNECT,
        Method::Options => http::Method::OPTIONS,
        Method::Trace => http::Method::TRACE,
        Method::Patch => http::Method::PATCH,
        Method::Other(other) => http::Method::from_bytes(other.as_bytes()).map_err(drop)?,
    })
}

fn scheme_out(scheme: &http::uri::Scheme) -> Scheme {
    match scheme.as_str() {
        "http" => Scheme::Http,
        "https" => Scheme::Https,
        other => Scheme::Other(other.to_owned()),
    }
}

fn scheme_in(scheme: Scheme) -> Result<http::uri::Scheme, ()> {
    Ok(match scheme {
        Scheme::Http => http::uri::Scheme::HTTP,
        Scheme::Https => http::uri::Scheme::HTTPS,
        Scheme::Other(other) => other.parse().map_err(drop)?,
    })
}

/// Links the functions that read, whose names begin with `prefix`, for the requests of `table`.
pub fn link_getters<T: AsRef<Line> + 'static>(
    types: &mut LinkerInstance<'_, State>,
    prefix: &str,
    table: fn(&State) -> &Slab<T>,
) -> Result<()> {
    types.func_wrap(
        &format!("{prefix}method"),
        move |store: Store<'_>, (this,): (Resource<T>,)| {
            let line = get(table(store.data()), &this)?.as_ref();
            Ok((method_out(&line.method),))
        },
    )?;
    types.func_wrap(
        &format!("{prefix}path-with-query"),
        move |store: Store<'_>, (this,): (Resource<T>,)| {
            let line = get(table(store.data()), &this)?.as_ref();
            Ok((line.path.as_ref().map(|path| path.as_str().to_owned()),))
        },
    )?;
    types.func_wrap(
        &format!("{prefix}scheme"),
        move |store: Store<'_>, (this,): (Resource<T>,)| {
            let line = get(table(store.data()), &this)?.as_ref();
            Ok((line.scheme.as_ref().map(scheme_out),))
        },
    )?;
    types.func_wrap(
        &format!("{prefix}authority"),
        move |store: Store<'_>, (this,): (Resource<T>,)| {
            let line = get(table(store.data()), &this)?.as_ref();
            Ok((line.authority.as_ref().map(|a| a.as_str().to_owned()),))
        },
    )
}

/// Links the functions that write, whose names begin with `prefix`, for the requests of `table`.
pub fn link_setters<T: AsMut<Line> + 'static>(
    types: &mut LinkerInstance<'_, State>,
    prefix: &str,
    table: fn(&mut State) -> &mut Slab<T>,
) -> Result<()> {
    types.func_wrap(
        &format!("{prefix}method"),
        move |mut store: Store<'_>, (this, method): (Resource<T>, Method)| {
            let line = get_mut(table(store.data_mut()), &this)?.as_mut();
            Ok((method_in(method).map(|method| line.method = method),))
        },
    )?;
    types.func_wrap(
        &format!("{prefix}path-with-query"),
        move |mut store: Store<'_>, (this, path): (Resource<T>, Option<String>)| {
            let line = get_mut(table(store.data_mut()), &this)?.as_mut();
            Ok((path
                .map(|path| outbound::parse_path(&path).ok_or(()))
                .transpose()
                .map(|path| line.path = path),))
        },
    )?;
    types.func_wrap(
        &format!("{prefix}scheme"),
        move |mut store: Store<'_>, (this, scheme): (Resource<T>, Option<Scheme>)| {
            let line = get_mut(table(store.data_mut()), &this)?.as_mut();
            Ok((scheme
                .map(scheme_in)
                .transpose()
                .map(|scheme| line.scheme = scheme),))
        },
    )?;
    types.func_wrap(
        &format!("{prefix}authority"),
        move |mut store: Store<'_>, (this, authority): (Resource<T>, Option<String>)| {
            let line = get_mut(table(store.data_mut()), &this)?.as_mut();
            Ok((authority
                .map(|authority| outbound::parse_authority(&authority).ok_or(()))
                .transpose()
                .map(|authority| line.authority = authority),))
        },
    )
}
