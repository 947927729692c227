//! A server that falls silent: connections are accepted, nothing is answered.
//!
//! Before a real server it passes everything on until it is told to fall silent, because a store "that was reached and
//! does not answer" is one that did answer before: until then a driver cannot tell it from one that is not there.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

pub struct Stall {
    pub address: SocketAddr,
    shared: Arc<Shared>,
    accepting: Option<JoinHandle<()>>,
}

struct Shared {
    /// Where everything goes until silence; without one there is only silence.
    upstream: Option<SocketAddr>,
    silent: AtomicBool,
    stop: AtomicBool,
    /// Every connection, so that dropping the stall ends them all.
    open: Mutex<Vec<TcpStream>>,
}

impl Stall {
    /// Silent from the first connection on.
    pub fn silent() -> std::io::Result<Self> {
        Self::start(None)
    }

    /// Passes everything on to `upstream` until [`Stall::fall_silent`].
    pub fn before(upstream: SocketAddr) -> std::io::Result<Self> {
        Self::start(Some(upstream))
    }

    fn start(upstream: Option<SocketAddr>) -> std::io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            upstream,
            silent: AtomicBool::new(upstream.is_none()),
            stop: AtomicBool::new(false),
            open: Mutex::default(),
        });
        let accepting = Arc::clone(&shared);
        Ok(Self {
            address,
            shared,
            accepting: Some(std::thread::spawn(move || accepting.accept(&listener))),
        })
    }

    /// Whether it still passes everything on.
    pub fn speaks(&self) -> bool {
        !self.shared.silent.load(Ordering::Relaxed)
    }

    pub fn fall_silent(&self) {
        self.shared.silent.store(true, Ordering::Relaxed);
    }
}

impl Shared {
    fn accept(self: &Arc<Self>, listener: &TcpListener) {
        while !self.stop.load(Ordering::Relaxed) {
            match listener.accept() {
                // A connection that cannot be passed on is closed, as one to a dead server is.
                Ok((client, _)) => drop(self.serve(client)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    std::thread::sleep(Duration::from_millis(5));
                }
                Err(_) => return,
            }
        }
    }

    fn serve(self: &Arc<Self>, client: TcpStream) -> std::io::Result<()> {
        client.set_nonblocking(false)?;
        self.hold(&client)?;
        if let Some(upstream) = self.upstream {
            let server = TcpStream::connect(upstream)?;
            self.hold(&server)?;
            self.pass(client.try_clone()?, server.try_clone()?);
            self.pass(server, client);
        }
        Ok(())
    }

    fn hold(&self, stream: &TcpStream) -> std::io::Result<()> {
        let stream = stream.try_clone()?;
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.push(stream);
        Ok(())
    }

    /// In a thread of its own, which ends when either side does.
    fn pass(self: &Arc<Self>, mut from: TcpStream, mut to: TcpStream) {
        let shared = Arc::clone(self);
        std::thread::spawn(move || {
            let mut buffer = [0; 16 * 1024];
            while let Ok(length @ 1..) = from.read(&mut buffer) {
                let silent = shared.silent.load(Ordering::Relaxed);
                if !silent && to.write_all(&buffer[..length]).is_err() {
                    break;
                }
            }
            let _ = to.shutdown(Shutdown::Write);
        });
    }
}

impl Drop for Stall {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        if let Some(accepting) = self.accepting.take() {
            // It panics nowhere; were it to, there is nothing left to clean up.
            let _ = accepting.join();
        }
        let open = self
            .shared
            .open
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        for stream in open.iter() {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_passes_everything_on_until_it_falls_silent() {
        let upstream = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let stall = Stall::before(upstream.local_addr().unwrap()).unwrap();
        let mut client = TcpStream::connect(stall.address).unwrap();
        let (mut server, _) = upstream.accept().unwrap();
        let mut byte = [0];

        client.write_all(b"a").unwrap();
        server.read_exact(&mut byte).unwrap();
        server.write_all(b"b").unwrap();
        client.read_exact(&mut byte).unwrap();
        assert_eq!(&byte, b"b");

        stall.fall_silent();
        server.write_all(b"c").unwrap();
        client
            .set_read_timeout(Some(Duration::from_millis(200)))
            .unwrap();
        let silence = client.read(&mut byte).unwrap_err().kind();
        assert!(matches!(
            silence,
            ErrorKind::WouldBlock | ErrorKind::TimedOut
        ));

        drop(stall);
        assert_eq!(
            client.read(&mut byte).unwrap(),
            0,
            "dropping it ends every connection"
        );
    }
}
