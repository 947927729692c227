//! A server that does nothing but answer: what a generator reads from it is the generator's own floor and ceiling.

use std::io;
use std::net::SocketAddr;
use std::sync::mpsc;
use std::thread::JoinHandle;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

use crate::http::Origin;
use crate::limits::{CpuSet, pin_thread};

/// Stopped when dropped.
pub struct NullServer {
    pub origin: Origin,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl NullServer {
    /// Answers everything with `status` and `body`, from one thread on the server's cores.
    pub fn start(status: u16, body: &[u8], cpus: &CpuSet) -> io::Result<Self> {
        let mut answer = format!(
            "HTTP/1.1 {status} x\r\ncontent-length: {}\r\n\r\n",
            body.len()
        )
        .into_bytes();
        answer.extend_from_slice(body);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .build()?;
        let (stop, stopped) = oneshot::channel();
        let (ready, bound) = mpsc::channel::<io::Result<SocketAddr>>();
        let cpus = cpus.clone();
        let thread = std::thread::Builder::new()
            .name("null-server".into())
            .spawn(move || {
                pin_thread(&cpus);
                runtime.block_on(serve(answer.into(), &ready, stopped));
            })?;
        let address = bound.recv().map_err(io::Error::other)??;
        Ok(Self {
            origin: Origin::from(address),
            stop: Some(stop),
            thread: Some(thread),
        })
    }
}

impl Drop for NullServer {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // It panics nowhere; were it to, there is nothing left to clean up.
            let _ = thread.join();
        }
    }
}

async fn serve(
    answer: std::sync::Arc<[u8]>,
    ready: &mpsc::Sender<io::Result<SocketAddr>>,
    mut stopped: oneshot::Receiver<()>,
) {
    let bound = TcpListener::bind(("127.0.0.1", 0)).await;
    let (listener, address) = match bound.and_then(|listener| {
        let address = listener.local_addr()?;
        Ok((listener, address))
    }) {
        Ok(bound) => bound,
        Err(error) => {
            // The receiver waits for exactly this.
            let _ = ready.send(Err(error));
            return;
        }
    };
    let _ = ready.send(Ok(address));
    loop {
        tokio::select! {
            _ = &mut stopped => return,
            accepted = listener.accept() => {
                if let Ok((stream, _)) = accepted {
                    tokio::spawn(answer_all(stream, std::sync::Arc::clone(&answer)));
                }
            }
        }
    }
}

/// No request of a generator has a body, and a request ends where its head does.
async fn answer_all(mut stream: TcpStream, answer: std::sync::Arc<[u8]>) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut buffer = Vec::with_capacity(4096);
    loop {
        if stream.read_buf(&mut buffer).await? == 0 {
            return Ok(());
        }
        while let Some(end) = buffer.windows(4).position(|four| four == b"\r\n\r\n") {
            buffer.drain(..end + 4);
            stream.write_all(&answer).await?;
        }
    }
}
