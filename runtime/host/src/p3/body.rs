//! Bodies between guests and the rest: a guest's stream into a [`Pipe`], a [`Body`] into a guest's stream.

use std::any::{Any, TypeId};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use http::HeaderMap;
use http_body::Body as _;
use wasmtime::component::{
    Destination, FutureConsumer, FutureProducer, FutureReader, Resource, Source, StreamConsumer,
    StreamProducer, StreamReader, StreamResult,
};
use wasmtime::{Result, StoreContextMut, error::Context as _};
use wasmtime_wasi_http::p3::bindings::http::types::ErrorCode;

use crate::headers::{self, Fields};
use crate::instance::Shared;
use crate::message::Body;
use crate::pipe::{BodyError, Pipe, Written};
use crate::state::State;
use crate::tables::{insert, take};

pub type Trailers = Result<Option<Resource<Fields>>, ErrorCode>;

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

/// Connects a body that a guest makes to a pipe, at once, so that what it writes leaves it without a wait.
pub fn pipe_out(
    store: &mut StoreContextMut<'_, State>,
    headers: &HeaderMap,
    contents: Option<StreamReader<u8>>,
    trailers: FutureReader<Trailers>,
) -> Result<(Pipe, FutureReader<Result<(), ErrorCode>>)> {
    let announced = headers::content_length(headers).ok().flatten();
    let shared = store.data().shared.clone();
    let pipe = Pipe::new(announced, shared.clone());
    match contents {
        Some(contents) => contents.pipe(
            &mut *store,
            BodyConsumer {
                pipe: pipe.clone(),
                shared: shared.clone(),
            },
        )?,
        None => pipe.end_data(),
    }
    trailers.pipe(
        &mut *store,
        TrailersConsumer {
            pipe: pipe.clone(),
            shared,
            done: false,
        },
    )?;
    let fate = FutureReader::new(&mut *store, Fate(pipe.clone()))?;
    Ok((pipe, fate))
}

/// Takes a guest's data into the pipe.
struct BodyConsumer {
    pipe: Pipe,
    shared: Arc<Shared>,
}

impl StreamConsumer<State> for BodyConsumer {
    type Item = u8;

    fn poll_consume(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        store: StoreContextMut<'_, State>,
        source: Source<'_, u8>,
        finish: bool,
    ) -> Poll<Result<StreamResult>> {
        let mut source = source.as_direct(store);
        match self.pipe.poll_write(cx, source.remaining()) {
            Poll::Ready(Written::Taken(count)) => {
                source.mark_read(count);
                self.shared.note_progress();
                Poll::Ready(Ok(StreamResult::Completed))
            }
            Poll::Ready(Written::Closed) => Poll::Ready(Ok(StreamResult::Dropped)),
            Poll::Pending if finish => Poll::Ready(Ok(StreamResult::Cancelled)),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl Drop for BodyConsumer {
    fn drop(&mut self) {
        // Dropped with the store, a stream did not end: the guest trapped or ran out of time.
        if self.shared.is_dying() {
            self.pipe.cut();
        } else {
            self.pipe.end_data();
        }
    }
}

/// Takes the guest's word on how the body ended.
struct TrailersConsumer {
    pipe: Pipe,
    shared: Arc<Shared>,
    done: bool,
}

impl FutureConsumer<State> for TrailersConsumer {
    type Item = Trailers;

    fn poll_consume(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        mut store: StoreContextMut<'_, State>,
        mut source: Source<'_, Trailers>,
        _: bool,
    ) -> Poll<Result<()>> {
        let mut trailers = None;
        source.read(&mut store, &mut trailers)?;
        let trailers = trailers.context("a future was written without a value")?;
        self.done = true;
        self.pipe.end_trailers(match trailers {
            Ok(None) => Ok(None),
            Ok(Some(fields)) => {
                let fields = take(&mut store.data_mut().fields, &fields)?;
                Ok(Some(fields.into_map()))
            }
            Err(error) => Err(format!("{error:?}")),
        });
        Poll::Ready(Ok(()))
    }
}

impl Drop for TrailersConsumer {
    fn drop(&mut self) {
        if !self.done || self.shared.is_dying() {
            self.pipe.cut();
        }
    }
}

/// The future that tells a guest what became of a body it made.
struct Fate(Pipe);

impl FutureProducer<State> for Fate {
    type Item = Result<(), ErrorCode>;

    fn poll_produce(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        _: StoreContextMut<'_, State>,
        finish: bool,
    ) -> Poll<Result<Option<Self::Item>>> {
        match self.0.poll_result(cx) {
            Poll::Ready(result) => Poll::Ready(Ok(Some(result.map_err(Into::into)))),
            Poll::Pending if finish => Poll::Ready(Ok(None)),
            Poll::Pending => Poll::Pending,
        }
    }
}

/// Gives a body to a guest as a stream and a future for its trailers.
pub fn pipe_in(
    store: &mut StoreContextMut<'_, State>,
    body: Body,
) -> Result<(StreamReader<u8>, FutureReader<Trailers>)> {
    let ending = Arc::new(Mutex::new(Ending::default()));
    let stream = StreamReader::new(
        &mut *store,
        BodyProducer {
            body,
            ending: ending.clone(),
        },
    )?;
    let trailers = FutureReader::new(&mut *store, TrailersProducer(ending))?;
    Ok((stream, trailers))
}

/// How the body ended, on its way from the stream to the future.
#[derive(Default)]
struct Ending {
    result: Option<Result<Option<HeaderMap>, ErrorCode>>,
    waiting: Option<Waker>,
}

struct BodyProducer {
    body: Body,
    ending: Arc<Mutex<Ending>>,
}

impl BodyProducer {
    /// Ends the stream if the body is known to have nothing more.
    fn end_or_more(&self) -> StreamResult {
        if self.body.is_end_stream() {
            self.end(Ok(None));
            StreamResult::Dropped
        } else {
            StreamResult::Completed
        }
    }

    fn end(&self, result: Result<Option<HeaderMap>, ErrorCode>) {
        let mut ending = self.ending.lock().unwrap_or_else(|e| e.into_inner());
        if ending.result.is_none() {
            ending.result = Some(result);
        }
        if let Some(waker) = ending.waiting.take() {
            waker.wake();
        }
    }
}

impl StreamProducer<State> for BodyProducer {
    type Item = u8;
    type Buffer = Bytes;

    fn poll_produce<'a>(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut store: StoreContextMut<'a, State>,
        mut destination: Destination<'a, u8, Bytes>,
        finish: bool,
    ) -> Poll<Result<StreamResult>> {
        // A read for nothing asks whether a read would wait; saying no is allowed and the next read will tell.
        if destination.remaining(&mut store) == Some(0) {
            return Poll::Ready(Ok(self.end_or_more()));
        }
        loop {
            let frame = match Pin::new(&mut self.body).poll_frame(cx) {
                Poll::Ready(frame) => frame,
                Poll::Pending if finish => return Poll::Ready(Ok(StreamResult::Cancelled)),
                Poll::Pending => return Poll::Pending,
            };
            let end = match frame {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) if data.is_empty() => continue,
                    Ok(data) => {
                        destination.set_buffer(data);
                        // Said with the last data, the end costs the guest no further read.
                        return Poll::Ready(Ok(self.end_or_more()));
                    }
                    Err(frame) => Ok(frame.into_trailers().ok()),
                },
                Some(Err(error)) => Err(error.into()),
                None => Ok(None),
            };
            self.end(end);
            return Poll::Ready(Ok(StreamResult::Dropped));
        }
    }

    fn try_into(me: Pin<Box<Self>>, _: TypeId) -> Result<Box<dyn Any>, Pin<Box<Self>>> {
        Err(me)
    }
}

impl Drop for BodyProducer {
    fn drop(&mut self) {
        // A guest that stops reading learns of no trailers.
        self.end(Ok(None));
    }
}

struct TrailersProducer(Arc<Mutex<Ending>>);

impl FutureProducer<State> for TrailersProducer {
    type Item = Trailers;

    fn poll_produce(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut store: StoreContextMut<'_, State>,
        finish: bool,
    ) -> Poll<Result<Option<Trailers>>> {
        let result = {
            let mut ending = self.0.lock().unwrap_or_else(|e| e.into_inner());
            let Some(result) = ending.result.take() else {
                if finish {
                    return Poll::Ready(Ok(None));
                }
                ending.waiting = Some(cx.waker().clone());
                return Poll::Pending;
            };
            result
        };
        Poll::Ready(Ok(Some(match result {
            Ok(None) => Ok(None),
            Ok(Some(map)) => {
                let fields = Fields::immutable(map);
                Ok(Some(insert(&mut store.data_mut().fields, fields)?))
            }
            Err(error) => Err(error),
        })))
    }
}
