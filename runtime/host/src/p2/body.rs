//! 0.2 bodies: incoming ones as input streams, outgoing ones as output streams into a [`Pipe`].

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use http::HeaderMap;
use http_body::Body as _;
use wasmtime::component::{LinkerInstance, Resource, ResourceType};
use wasmtime::{Result, StoreContextMut};
use wasmtime_wasi::async_trait;
use wasmtime_wasi::p2::{
    DynInputStream, DynOutputStream, DynPollable, InputStream, OutputStream, Pollable, StreamError,
    StreamResult, subscribe,
};
use wasmtime_wasi_http::p2::bindings::http::types::ErrorCode;

use crate::headers::Fields;
use crate::instance::Shared;
use crate::message::Body;
use crate::pipe::{BodyError, Pipe, Written};
use crate::state::State;
use crate::tables::{get_mut, insert, take};

type Store<'a> = StoreContextMut<'a, State>;

impl From<BodyError> for ErrorCode {
    fn from(error: BodyError) -> Self {
        match error {
            BodyError::Length { actual, .. } => ErrorCode::HttpResponseBodySize(Some(actual)),
            BodyError::TooLarge { limit } => ErrorCode::HttpRequestBodySize(Some(limit)),
            BodyError::Guest(reason) => ErrorCode::InternalError(Some(reason)),
            BodyError::Cut => ErrorCode::HttpResponseIncomplete,
            BodyError::Stalled => ErrorCode::ConnectionReadTimeout,
            BodyError::Connection(_) => ErrorCode::ConnectionTerminated,
        }
    }
}

/// An incoming body, shared by the resource, its stream and the future of its trailers.
#[derive(Clone)]
pub struct IncomingBody {
    shared: Arc<Mutex<Reading>>,
    streamed: bool,
}

struct Reading {
    body: Body,
    buffer: Bytes,
    end: Option<Result<Option<HeaderMap>, BodyError>>,
}

impl IncomingBody {
    pub fn new(body: Body) -> Self {
        IncomingBody {
            shared: Arc::new(Mutex::new(Reading {
                body,
                buffer: Bytes::new(),
                end: None,
            })),
            streamed: false,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Reading> {
        self.shared.lock().unwrap_or_else(|e| e.into_inner())
    }
}

impl Reading {
    /// Ready when there is data in the buffer or the body has ended.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        while self.buffer.is_empty() && self.end.is_none() {
            match std::task::ready!(Pin::new(&mut self.body).poll_frame(cx)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => self.buffer = data,
                    Err(frame) => self.end = Some(Ok(frame.into_trailers().ok())),
                },
                Some(Err(error)) => self.end = Some(Err(error)),
                None => self.end = Some(Ok(None)),
            }
        }
        Poll::Ready(())
    }
}

#[async_trait]
impl Pollable for IncomingBody {
    async fn ready(&mut self) {
        poll_fn(|cx| self.lock().poll(cx)).await;
    }
}

#[async_trait]
impl InputStream for IncomingBody {
    fn read(&mut self, size: usize) -> StreamResult<Bytes> {
        let mut reading = self.lock();
        // Whether more is there is found out by `ready`, which has a waker.
        if reading.buffer.is_empty() {
            let _ = reading.poll(&mut Context::from_waker(Waker::noop()));
        }
        if !reading.buffer.is_empty() {
            let size = size.min(reading.buffer.len());
            return Ok(reading.buffer.split_to(size));
        }
        match &reading.end {
            None => Ok(Bytes::new()),
            Some(Ok(_)) => Err(StreamError::Closed),
            Some(Err(error)) => Err(StreamError::LastOperationFailed(error.clone().into())),
        }
    }
}

/// The trailers of an incoming body: ready when all of it was read.
pub struct FutureTrailers {
    body: IncomingBody,
    taken: bool,
}

#[async_trait]
impl Pollable for FutureTrailers {
    async fn ready(&mut self) {
        loop {
            self.body.ready().await;
            let mut reading = self.body.lock();
            if reading.buffer.is_empty() {
                return;
            }
            // Nobody reads the data any more.
            reading.buffer = Bytes::new();
        }
    }
}

/// An outgoing body. Dropped without `finish`, it is cut.
pub struct OutgoingBody {
    pub pipe: Pipe,
    shared: Arc<Shared>,
    written: bool,
    finished: bool,
}

impl OutgoingBody {
    pub fn new(pipe: Pipe, shared: Arc<Shared>) -> Self {
        OutgoingBody {
            pipe,
            shared,
            written: false,
            finished: false,
        }
    }
}

impl Drop for OutgoingBody {
    fn drop(&mut self) {
        if !self.finished || self.shared.is_dying() {
            self.pipe.cut();
        }
    }
}

struct BodyWriter(Pipe, Arc<Shared>);

#[async_trait]
impl Pollable for BodyWriter {
    async fn ready(&mut self) {
        poll_fn(|cx| self.0.poll_room(cx)).await;
    }
}

#[async_trait]
impl OutputStream for BodyWriter {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        let mut cx = Context::from_waker(Waker::noop());
        match self.0.poll_write(&mut cx, &bytes) {
            Poll::Ready(Written::Taken(taken)) if taken == bytes.len() => {
                self.1.note_progress();
                Ok(())
            }
            Poll::Ready(Written::Closed) => match self.0.failure() {
                Some(error) => Err(StreamError::LastOperationFailed(error.into())),
                None => Err(StreamError::Closed),
            },
            _ => Err(StreamError::trap(
                "more was written than check-write allowed",
            )),
        }
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        match self.0.room() {
            Some(room) => Ok(room),
            None => Err(StreamError::Closed),
        }
    }
}

pub fn link(types: &mut LinkerInstance<'_, State>) -> Result<()> {
    link_incoming(types)?;
    link_trailers(types)?;
    types.resource(
        "outgoing-body",
        ResourceType::host::<OutgoingBody>(),
        |mut store, rep| {
            let this = Resource::<OutgoingBody>::new_own(rep);
            take(&mut store.data_mut().http02.outgoing_bodies, &this).map(drop)
        },
    )?;
    types.func_wrap(
        "[method]outgoing-body.write",
        |mut store: Store<'_>, (this,): (Resource<OutgoingBody>,)| {
            let state = store.data_mut();
            let body = get_mut(&mut state.http02.outgoing_bodies, &this)?;
            if std::mem::replace(&mut body.written, true) {
                return Ok((Err(()),));
            }
            let stream: DynOutputStream =
                Box::new(BodyWriter(body.pipe.clone(), body.shared.clone()));
            Ok((Ok(state.table.push(stream)?),))
        },
    )?;
    types.func_wrap(
        "[static]outgoing-body.finish",
        |mut store: Store<'_>,
         (this, trailers): (Resource<OutgoingBody>, Option<Resource<Fields>>)| {
            let state = store.data_mut();
            let mut body = take(&mut state.http02.outgoing_bodies, &this)?;
            let trailers = match trailers {
                Some(trailers) => Some(take(&mut state.fields, &trailers)?.into_map()),
                None => None,
            };
            body.finished = true;
            body.pipe.end_data();
            body.pipe.end_trailers(Ok(trailers));
            Ok((match body.pipe.failure() {
                Some(error) => Err(ErrorCode::from(error)),
                None => Ok(()),
            },))
        },
    )
}

fn link_incoming(types: &mut LinkerInstance<'_, State>) -> Result<()> {
    types.resource(
        "incoming-body",
        ResourceType::host::<IncomingBody>(),
        |mut store, rep| {
            let this = Resource::<IncomingBody>::new_own(rep);
            take(&mut store.data_mut().http02.incoming_bodies, &this).map(drop)
        },
    )?;
    types.func_wrap(
        "[method]incoming-body.stream",
        |mut store: Store<'_>, (this,): (Resource<IncomingBody>,)| {
            let state = store.data_mut();
            let body = get_mut(&mut state.http02.incoming_bodies, &this)?;
            if std::mem::replace(&mut body.streamed, true) {
                return Ok((Err(()),));
            }
            let stream: DynInputStream = Box::new(body.clone());
            Ok((Ok(state.table.push(stream)?),))
        },
    )?;
    types.func_wrap(
        "[static]incoming-body.finish",
        |mut store: Store<'_>, (this,): (Resource<IncomingBody>,)| {
            let state = store.data_mut();
            let body = take(&mut state.http02.incoming_bodies, &this)?;
            let trailers = FutureTrailers { body, taken: false };
            Ok((state.table.push(trailers)?,))
        },
    )
}

fn link_trailers(types: &mut LinkerInstance<'_, State>) -> Result<()> {
    type Handle = Resource<FutureTrailers>;
    types.resource(
        "future-trailers",
        ResourceType::host::<FutureTrailers>(),
        |mut store, rep| {
            store.data_mut().table.delete(Handle::new_own(rep))?;
            Ok(())
        },
    )?;
    types.func_wrap(
        "[method]future-trailers.subscribe",
        |mut store: Store<'_>, (this,): (Handle,)| -> Result<(Resource<DynPollable>,)> {
            Ok((subscribe(&mut store.data_mut().table, this)?,))
        },
    )?;
    type Got = Option<Result<Result<Option<Resource<Fields>>, ErrorCode>, ()>>;
    types.func_wrap(
        "[method]future-trailers.get",
        |mut store: Store<'_>, (this,): (Handle,)| -> Result<(Got,)> {
            let state = store.data_mut();
            let trailers = state.table.get_mut(&this)?;
            if trailers.taken {
                return Ok((Some(Err(())),));
            }
            let end = {
                let mut reading = trailers.body.lock();
                let _ = reading.poll(&mut Context::from_waker(Waker::noop()));
                if !reading.buffer.is_empty() {
                    return Ok((None,));
                }
                reading.end.clone()
            };
            let Some(end) = end else {
                return Ok((None,));
            };
            trailers.taken = true;
            Ok((Some(Ok(match end {
                Ok(None) => Ok(None),
                Ok(Some(map)) => {
                    let fields = Fields::immutable(map);
                    Ok(Some(insert(&mut state.fields, fields)?))
                }
                Err(error) => Err(error.into()),
            })),))
        },
    )
}
