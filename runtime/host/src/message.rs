//! HTTP messages as they pass between server, guests and the outbound pool: `http` parts and one concrete body.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http::uri::{Authority, PathAndQuery, Scheme};
use http::{HeaderMap, Method, StatusCode, Uri};
use http_body::{Body as _, Frame, SizeHint};
use tokio::time::Sleep;

use crate::metrics::Held;
use crate::pipe::{BodyError, PipeReader};

pub type Request = http::Request<Body>;

/// What the first line of a request and its scheme and host say, as a guest sees them or sets them.
#[derive(Debug, Default)]
pub struct Line {
    pub method: Method,
    pub scheme: Option<Scheme>,
    pub authority: Option<Authority>,
    pub path: Option<PathAndQuery>,
}

impl Line {
    pub fn new(method: Method, uri: Uri) -> Self {
        let uri = uri.into_parts();
        Line {
            method,
            scheme: uri.scheme,
            authority: uri.authority,
            path: uri.path_and_query,
        }
    }
}

/// A guest's answer, or an outbound server's.
#[derive(Debug)]
pub struct Response {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Body,
}

/// Every body in this host.
#[derive(Debug, Default)]
pub enum Body {
    #[default]
    Empty,
    Full(Bytes),
    Pipe(PipeReader),
    Wire(Box<WireBody>),
}

/// A body that comes from a socket, with what it is held to.
#[derive(Debug)]
pub struct WireBody {
    body: hyper::body::Incoming,
    limit: u64,
    received: u64,
    between_bytes: Duration,
    timer: Option<Pin<Box<Sleep>>>,
    /// What is held until the body was read.
    held: Option<Held>,
}

impl Body {
    /// A body off the wire that may have at most `limit` bytes and pause at most `between_bytes`.
    pub fn from_wire(body: hyper::body::Incoming, limit: u64, between_bytes: Duration) -> Self {
        if body.is_end_stream() {
            return Body::Empty;
        }
        Body::Wire(Box::new(WireBody {
            body,
            limit,
            received: 0,
            between_bytes,
            timer: None,
            held: None,
        }))
    }

    /// Holds `held` until the body was read or is dropped.
    pub fn with_held(mut self, held: Held) -> Self {
        if let Body::Wire(wire) = &mut self {
            wire.held = Some(held);
        }
        self
    }
}

impl Body {
    /// Turns a piped body that is whole already into plain bytes, so that it is sent in one piece with its length.
    pub fn settle(self) -> Result<Self, BodyError> {
        let Body::Pipe(mut pipe) = self else {
            return Ok(self);
        };
        match pipe.take_whole() {
            Some(whole) => Ok(Body::Full(whole?)),
            None => Ok(Body::Pipe(pipe)),
        }
    }
}

impl WireBody {
    fn poll_frame(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let frame = match Pin::new(&mut self.body).poll_frame(cx) {
            Poll::Ready(frame) => frame,
            Poll::Pending => {
                let between = self.between_bytes;
                let timer = self
                    .timer
                    .get_or_insert_with(|| Box::pin(tokio::time::sleep(between)));
                ready!(timer.as_mut().poll(cx));
                return Poll::Ready(Some(Err(BodyError::Stalled)));
            }
        };
        self.timer = None;
        match frame {
            Some(Ok(frame)) => {
                self.received += frame.data_ref().map_or(0, Bytes::len) as u64;
                if self.received > self.limit {
                    return Poll::Ready(Some(Err(BodyError::TooLarge { limit: self.limit })));
                }
                Poll::Ready(Some(Ok(frame)))
            }
            Some(Err(error)) => Poll::Ready(Some(Err(BodyError::Connection(error.to_string())))),
            None => {
                self.held = None;
                Poll::Ready(None)
            }
        }
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let this = self.get_mut();
        match this {
            Body::Empty => Poll::Ready(None),
            Body::Full(bytes) => {
                let bytes = std::mem::take(bytes);
                *this = Body::Empty;
                if bytes.is_empty() {
                    return Poll::Ready(None);
                }
                Poll::Ready(Some(Ok(Frame::data(bytes))))
            }
            Body::Pipe(pipe) => pipe.poll_frame(cx),
            Body::Wire(wire) => wire.poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Body::Empty => true,
            Body::Full(bytes) => bytes.is_empty(),
            Body::Pipe(pipe) => pipe.is_end(),
            Body::Wire(wire) => wire.body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Body::Empty => SizeHint::with_exact(0),
            Body::Full(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Body::Pipe(pipe) => pipe
                .remaining()
                .map_or_else(SizeHint::default, SizeHint::with_exact),
            Body::Wire(wire) => wire.body.size_hint(),
        }
    }
}
