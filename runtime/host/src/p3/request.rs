//! `wasi:http/types.request`.

use http::uri::{Authority, PathAndQuery};
use wasmtime::component::{FutureReader, LinkerInstance, Resource, ResourceType, StreamReader};
use wasmtime::{Result, StoreContextMut};
use wasmtime_wasi_http::p3::bindings::http::types::{ErrorCode, Method, Scheme};

use super::body::{Trailers, pipe_in, pipe_out};
use super::options::Slot;
use crate::headers::Fields;
use crate::message::{Body, Request};
use crate::outbound::{self, Options};
use crate::state::State;
use crate::tables::{get, get_mut, insert, take};

type Store<'a> = StoreContextMut<'a, State>;
type Handle = Resource<GuestRequest>;
type Consumed = (StreamReader<u8>, FutureReader<Trailers>);

/// A request that a guest holds: one that came in, or one it means to send.
pub struct GuestRequest {
    pub method: http::Method,
    pub scheme: Option<http::uri::Scheme>,
    pub authority: Option<Authority>,
    pub path: Option<PathAndQuery>,
    pub headers: Fields,
    pub options: Option<Options>,
    pub body: Body,
}

impl From<Request> for GuestRequest {
    fn from(request: Request) -> Self {
        let (parts, body) = request.into_parts();
        let uri = parts.uri.into_parts();
        GuestRequest {
            method: parts.method,
            scheme: uri.scheme,
            authority: uri.authority,
            path: uri.path_and_query,
            headers: Fields::immutable(parts.headers),
            options: None,
            body,
        }
    }
}

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

pub fn link(types: &mut LinkerInstance<'_, State>) -> Result<()> {
    types.resource(
        "request",
        ResourceType::host::<GuestRequest>(),
        |mut store, rep| {
            take(&mut store.data_mut().http03.requests, &Handle::new_own(rep)).map(drop)
        },
    )?;
    types.func_wrap("[static]request.new", new)?;
    types.func_wrap(
        "[static]request.consume-body",
        |mut store: Store<'_>,
         (this, fate): (Handle, FutureReader<Result<(), ErrorCode>>)|
         -> Result<(Consumed,)> {
            let request = take(&mut store.data_mut().http03.requests, &this)?;
            let mut fate = fate;
            fate.close(&mut store)?;
            Ok((pipe_in(&mut store, request.body)?,))
        },
    )?;
    link_line(types)?;
    types.func_wrap(
        "[method]request.get-options",
        |mut store: Store<'_>, (this,): (Handle,)| {
            let http = &mut store.data_mut().http03;
            let options = match &get(&http.requests, &this)?.options {
                Some(options) => Some(insert(&mut http.options, (options.clone(), false))?),
                None => None,
            };
            Ok((options,))
        },
    )?;
    types.func_wrap(
        "[method]request.get-headers",
        |mut store: Store<'_>, (this,): (Handle,)| {
            let http = &mut store.data_mut().http03;
            let headers = get(&http.requests, &this)?.headers.shared();
            Ok((insert(&mut http.fields, headers)?,))
        },
    )
}

type NewArguments = (
    Resource<Fields>,
    Option<StreamReader<u8>>,
    FutureReader<Trailers>,
    Option<Resource<Slot>>,
);
type New = (Handle, FutureReader<Result<(), ErrorCode>>);

fn new(
    mut store: Store<'_>,
    (headers, contents, trailers, options): NewArguments,
) -> Result<(New,)> {
    let http = &mut store.data_mut().http03;
    let headers = take(&mut http.fields, &headers)?.shared();
    let options = match options {
        Some(options) => Some(take(&mut http.options, &options)?.0),
        None => None,
    };
    let empty = contents.is_none();
    let (pipe, fate) = pipe_out(&mut store, headers.map(), contents, trailers)?;
    let request = GuestRequest {
        method: http::Method::GET,
        scheme: None,
        authority: None,
        path: None,
        headers,
        options,
        body: if empty {
            pipe.set_delivered();
            Body::Empty
        } else {
            Body::Pipe(pipe.reader())
        },
    };
    Ok(((
        insert(&mut store.data_mut().http03.requests, request)?,
        fate,
    ),))
}

/// The parts of the request line, each read and written.
fn link_line(types: &mut LinkerInstance<'_, State>) -> Result<()> {
    types.func_wrap(
        "[method]request.get-method",
        |store: Store<'_>, (this,): (Handle,)| {
            Ok((method_out(
                &get(&store.data().http03.requests, &this)?.method,
            ),))
        },
    )?;
    types.func_wrap(
        "[method]request.set-method",
        |mut store: Store<'_>, (this, method): (Handle, Method)| {
            let request = get_mut(&mut store.data_mut().http03.requests, &this)?;
            Ok((method_in(method).map(|method| request.method = method),))
        },
    )?;
    types.func_wrap(
        "[method]request.get-path-with-query",
        |store: Store<'_>, (this,): (Handle,)| {
            let path = &get(&store.data().http03.requests, &this)?.path;
            Ok((path.as_ref().map(|path| path.as_str().to_owned()),))
        },
    )?;
    types.func_wrap(
        "[method]request.set-path-with-query",
        |mut store: Store<'_>, (this, path): (Handle, Option<String>)| {
            let request = get_mut(&mut store.data_mut().http03.requests, &this)?;
            Ok((path
                .map(|path| outbound::parse_path(&path).ok_or(()))
                .transpose()
                .map(|path| request.path = path),))
        },
    )?;
    types.func_wrap(
        "[method]request.get-scheme",
        |store: Store<'_>, (this,): (Handle,)| {
            let scheme = &get(&store.data().http03.requests, &this)?.scheme;
            Ok((scheme.as_ref().map(scheme_out),))
        },
    )?;
    types.func_wrap(
        "[method]request.set-scheme",
        |mut store: Store<'_>, (this, scheme): (Handle, Option<Scheme>)| {
            let request = get_mut(&mut store.data_mut().http03.requests, &this)?;
            Ok((scheme
                .map(scheme_in)
                .transpose()
                .map(|scheme| request.scheme = scheme),))
        },
    )?;
    types.func_wrap(
        "[method]request.get-authority",
        |store: Store<'_>, (this,): (Handle,)| {
            let authority = &get(&store.data().http03.requests, &this)?.authority;
            Ok((authority.as_ref().map(|a| a.as_str().to_owned()),))
        },
    )?;
    types.func_wrap(
        "[method]request.set-authority",
        |mut store: Store<'_>, (this, authority): (Handle, Option<String>)| {
            let request = get_mut(&mut store.data_mut().http03.requests, &this)?;
            Ok((authority
                .map(|authority| outbound::parse_authority(&authority).ok_or(()))
                .transpose()
                .map(|authority| request.authority = authority),))
        },
    )
}
