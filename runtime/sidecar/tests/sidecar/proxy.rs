//! A TCP proxy between the sidecar and its server that can be told to misbehave, in ways that a
//! network and a dying server do.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fault {
    None,
    /// New connections are closed at once, those there are too.
    Close,
    /// As `Close`, but with a TCP reset.
    Reset,
    /// Every reply is cut after 20 bytes and its connection closed.
    Cut,
    /// Connections are accepted and bytes taken; none come back.
    BlackHole,
    /// Connections that are opened now never bring anything; those there already go on.
    Strand,
    /// Replies are held back until the fault is over.
    Hold,
    /// Every reply is held back for this long.
    Delay(Duration),
    /// Replies come in pieces of 64 bytes, with this much time between them.
    Throttle(Duration),
}

pub struct Proxy {
    pub port: u16,
    shared: Arc<Shared>,
}

struct Shared {
    fault: Mutex<Fault>,
    /// `find` commands that came this way.
    finds: AtomicUsize,
    /// Connections that are open.
    open: AtomicUsize,
}

/// A string named `find`, as BSON has it: the command, which none but the command has at its front.
const FIND: &[u8] = b"\x02find\0";

/// How often a quiet connection looks whether it should misbehave.
const TICK: Duration = Duration::from_millis(10);

impl Proxy {
    pub fn to(upstream: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let shared = Arc::new(Shared {
            fault: Mutex::new(Fault::None),
            finds: AtomicUsize::new(0),
            open: AtomicUsize::new(0),
        });
        let accepting = Arc::clone(&shared);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let shared = Arc::clone(&accepting);
                thread::spawn(move || {
                    shared.open.fetch_add(1, Relaxed);
                    serve(client, ([127, 0, 0, 1], upstream).into(), &shared);
                    shared.open.fetch_sub(1, Relaxed);
                });
            }
        });
        Self { port, shared }
    }

    pub fn set(&self, fault: Fault) {
        *self.shared.fault.lock().unwrap() = fault;
    }

    /// How many reads went to the server.
    pub fn finds(&self) -> usize {
        self.shared.finds.load(Relaxed)
    }

    /// How many connections are open now.
    pub fn open(&self) -> usize {
        self.shared.open.load(Relaxed)
    }

    pub fn connection_string(&self) -> String {
        format!("mongodb://127.0.0.1:{}/?directConnection=true", self.port)
    }
}

fn serve(mut client: TcpStream, upstream: SocketAddr, shared: &Arc<Shared>) {
    if *shared.fault.lock().unwrap() == Fault::Strand {
        // Until the other side closes it, also when the fault is over.
        let _ = std::io::copy(&mut client, &mut std::io::sink());
        return;
    }
    let Ok(server) = TcpStream::connect(upstream) else {
        return;
    };
    for stream in [&client, &server] {
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(TICK)).unwrap();
    }
    let (Ok(from), Ok(to)) = (client.try_clone(), server.try_clone()) else {
        return;
    };
    let requests = Arc::clone(shared);
    thread::spawn(move || carry(from, to, &requests, false));
    carry(server, client, shared, true);
}

/// Carries bytes one way until either side ends or the fault says so.
fn carry(mut from: TcpStream, mut to: TcpStream, shared: &Shared, is_reply: bool) {
    let current = || *shared.fault.lock().unwrap();
    let mut buffer = [0; 16 * 1024];
    loop {
        match current() {
            Fault::Close => break,
            Fault::Reset => {
                for stream in [&from, &to] {
                    // The other direction may have closed it already.
                    let _ = socket2::SockRef::from(stream).set_linger(Some(Duration::ZERO));
                }
                return;
            }
            _ => {}
        }
        let length = match from.read(&mut buffer) {
            Ok(0) => break,
            Ok(length) => length,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                continue;
            }
            Err(_) => break,
        };
        let bytes = &buffer[..length];
        if !is_reply {
            let finds = bytes.windows(FIND.len()).filter(|window| *window == FIND);
            shared.finds.fetch_add(finds.count(), Relaxed);
        }
        let written = match current() {
            // What falls in never comes out.
            Fault::BlackHole => continue,
            Fault::Cut if is_reply => {
                let _ = to.write_all(&bytes[..length.min(20)]);
                break;
            }
            Fault::Hold if is_reply => {
                while current() == Fault::Hold {
                    thread::sleep(Duration::from_millis(1));
                }
                to.write_all(bytes)
            }
            Fault::Delay(time) if is_reply => {
                thread::sleep(time);
                to.write_all(bytes)
            }
            Fault::Throttle(time) if is_reply => bytes.chunks(64).try_for_each(|piece| {
                thread::sleep(time);
                to.write_all(piece)
            }),
            _ => to.write_all(bytes),
        };
        if written.is_err() {
            break;
        }
    }
    let _ = from.shutdown(std::net::Shutdown::Both);
    let _ = to.shutdown(std::net::Shutdown::Both);
}
