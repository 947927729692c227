//! A connection that may be idle for long, but neither dawdle over a request's head nor stop
//! reading its answer.

use std::io::{Error, ErrorKind, IoSlice, Result};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// From a request's first bytes to the end of its head.
const HEAD: Duration = Duration::from_secs(10);
/// Without the client's taking a single byte.
const STALL: Duration = Duration::from_secs(30);

/// Set while a request's head has begun and not ended.
#[derive(Clone, Default)]
pub struct HeadBegun(Arc<AtomicBool>);

impl HeadBegun {
    pub fn ended(&self) {
        self.0.store(false, Relaxed);
    }
}

pub struct Paced<IO> {
    io: IO,
    head: HeadBegun,
    // Armed only when something is waited for, which for most requests is never.
    head_timer: Option<Pin<Box<Sleep>>>,
    stall_timer: Option<Pin<Box<Sleep>>>,
}

impl<IO> Paced<IO> {
    pub fn new(io: IO, head: HeadBegun) -> Self {
        Self {
            io,
            head,
            head_timer: None,
            stall_timer: None,
        }
    }
}

fn is_over(timer: &mut Option<Pin<Box<Sleep>>>, limit: Duration, cx: &mut Context<'_>) -> bool {
    let timer = timer.get_or_insert_with(|| Box::pin(sleep(limit)));
    timer.as_mut().poll(cx).is_ready()
}

impl<IO: AsyncRead + Unpin> AsyncRead for Paced<IO> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<Result<()>> {
        let this = &mut *self;
        let before = buf.filled().len();
        let poll = Pin::new(&mut this.io).poll_read(cx, buf);
        if !this.head.0.load(Relaxed) {
            this.head_timer = None;
        }
        match poll {
            Poll::Pending if this.head.0.load(Relaxed) => {
                if is_over(&mut this.head_timer, HEAD, cx) {
                    return Poll::Ready(Err(Error::new(ErrorKind::TimedOut, "the head is slow")));
                }
                Poll::Pending
            }
            Poll::Ready(Ok(())) if buf.filled().len() > before => {
                this.head.0.store(true, Relaxed);
                Poll::Ready(Ok(()))
            }
            poll => poll,
        }
    }
}

impl<IO: AsyncWrite + Unpin> Paced<IO> {
    fn watch_stall<T>(&mut self, cx: &mut Context<'_>, poll: Poll<Result<T>>) -> Poll<Result<T>> {
        if poll.is_ready() {
            self.stall_timer = None;
            return poll;
        }
        if is_over(&mut self.stall_timer, STALL, cx) {
            return Poll::Ready(Err(Error::new(
                ErrorKind::TimedOut,
                "the client does not read",
            )));
        }
        Poll::Pending
    }
}

impl<IO: AsyncWrite + Unpin> AsyncWrite for Paced<IO> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<Result<usize>> {
        let poll = Pin::new(&mut self.io).poll_write(cx, bytes);
        self.watch_stall(cx, poll)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        let poll = Pin::new(&mut self.io).poll_write_vectored(cx, slices);
        self.watch_stall(cx, poll)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        let poll = Pin::new(&mut self.io).poll_flush(cx);
        self.watch_stall(cx, poll)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        ready!(Pin::new(&mut self.io).poll_shutdown(cx))?;
        Poll::Ready(Ok(()))
    }
}
