//! What the host's tests share: the guests, the real binary around one of them, and a client that sees every byte.
#![allow(dead_code, reason = "each test file uses its part")]

pub mod prometheus;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use prometheus::Exposition;
use testbed::{Process, Ready};

/// No test waits longer than this for anything that should happen soon.
pub const SOON: Duration = Duration::from_secs(20);

/// A host compiles its guest at start, on a machine where other tests and builds may have every core.
pub const STARTED: Duration = Duration::from_secs(90);

/// The wasm file of a guest in tests/guests; all are built, once for a test program.
pub fn guest(name: &str) -> PathBuf {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    let directory = BUILT.get_or_init(|| build("wasm32-wasip2", &["--examples"]));
    directory.join(format!("{name}.wasm"))
}

/// A guest as a core module over preview 1.
pub fn core_module(name: &str) -> PathBuf {
    build("wasm32-wasip1", &["--example", name]).join(format!("{name}.wasm"))
}

fn build(wasm: &str, examples: &[&str]) -> PathBuf {
    let root = testbed::repo_root();
    let target = root.join("target/guests");
    let status = Command::new("cargo")
        .args(["build", "--quiet", "--release", "--target", wasm])
        .args(examples)
        .arg("--target-dir")
        .arg(&target)
        .current_dir(root.join("tests/guests"))
        // Settings of the host's own build are not the guests'.
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .env_remove("CARGO_BUILD_TARGET")
        .status()
        .expect("cargo runs: it runs this test");
    assert!(status.success(), "tests/guests must build for {wasm}");
    target.join(wasm).join("release/examples")
}

/// The host's binary with a command.
pub fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_levelfield-host"));
    command.args(arguments);
    command
}

/// `up` with these flags, on a free port.
pub fn up(flags: &[&str]) -> Command {
    let mut command = command(&["up", "--listen", "127.0.0.1:0"]);
    if !flags.contains(&"-L") {
        command.args(["-L", ""]);
    }
    command.args(flags);
    command.env_remove("RUST_LOG");
    command
}

/// Runs `up` with these flags and gives the one line that it says when it fails.
pub fn failure(flags: &[&str]) -> String {
    let output = up(flags).output().expect("the host runs");
    assert!(!output.status.success(), "{flags:?} must fail");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(text.trim_end().lines().count(), 1, "one line: {text}");
    text
}

/// A path as an argument.
pub fn text(path: &Path) -> &str {
    path.to_str().expect("the repository's path is UTF-8")
}

/// A running host.
pub struct Host {
    process: Process,
    pub address: SocketAddr,
}

impl Host {
    /// Serves one guest.
    pub fn with_guest(name: &str, flags: &[&str]) -> Self {
        let from = guest(name);
        let from = from.to_str().expect("the repository's path is UTF-8");
        Self::up(&[&["--from", from], flags].concat())
    }

    /// Serves several guests, `(id, guest)` below `/id/` and `/bad/id/`, and a static response at `/fixed`. Each may
    /// reach all of the others and what listens on 127.0.0.1.
    pub fn with_guests(guests: &[(&str, &str)], flags: &[&str]) -> (tempfile::TempDir, Self) {
        let directory = tempfile::tempdir().expect("a directory");
        let manifest = directory.path().join("spin.toml");
        let mut text = "spin_manifest_version = 2\n[application]\nname = \"a\"\n\
                        [[trigger.http]]\nroute = \"/fixed\"\nstatic_response = { status_code = 418 }\n"
            .to_owned();
        for (id, name) in guests {
            text += &format!(
                "[[trigger.http]]\nroute = \"/bad/{id}/...\"\ncomponent = \"{id}\"\n\
                 [[trigger.http]]\nroute = \"/{id}/...\"\ncomponent = \"{id}\"\n\
                 [component.{id}]\nsource = {:?}\n\
                 allowed_outbound_hosts = [\"http://*.spin.internal\", \"http://127.0.0.1:*\"]\n",
                guest(name)
            );
        }
        std::fs::write(&manifest, text).expect("written");
        let from = manifest.to_str().expect("the path is UTF-8");
        let host = Self::up(&[&["--from", from], flags].concat());
        (directory, host)
    }

    /// `up` with these flags, on a free port.
    pub fn up(flags: &[&str]) -> Self {
        Self::start(&mut up(flags))
    }

    /// The same with variables in the host's own environment.
    pub fn up_with(flags: &[&str], environment: &[(&str, &str)]) -> Self {
        Self::start(up(flags).envs(environment.iter().copied()))
    }

    /// A command that [`up`] made and the test changed.
    pub fn start(command: &mut Command) -> Self {
        let process = Process::start(command, Ready::Output("Available Routes:".into()), STARTED)
            .expect("the host starts");
        let output = process.output();
        let address = output
            .split("Serving ")
            .nth(1)
            .and_then(|rest| rest.split_whitespace().next())
            .and_then(|url| url.split("://").nth(1))
            .expect("the host says where it serves")
            .parse()
            .expect("an address");
        Host { process, address }
    }

    pub fn output(&self) -> String {
        self.process.output()
    }

    pub fn wait_for_output(&self, text: &str) -> bool {
        self.process.wait_for_output(text, SOON)
    }

    pub fn terminate(&self) {
        self.process.signal(15);
    }

    pub fn wait(&mut self) -> ExitStatus {
        self.process.wait(SOON).expect("the host ends")
    }

    /// GETs a path on a connection of its own.
    pub fn get(&self, path: &str) -> Answer {
        self.send(&format!(
            "GET {path} HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n"
        ))
    }

    /// Sends these bytes and reads until the host closes.
    pub fn send(&self, request: &str) -> Answer {
        let mut stream = self.connect();
        stream.write_all(request.as_bytes()).expect("written");
        read_answer(&mut stream)
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).expect("the host accepts");
        stream.set_read_timeout(Some(SOON)).expect("a time");
        stream
    }

    /// How many file descriptors the host has open.
    pub fn descriptors(&self) -> usize {
        let path = format!("/proc/{}/fd", self.process.pid());
        std::fs::read_dir(path).expect("it runs").count()
    }

    /// Resident memory in bytes.
    pub fn memory(&self) -> u64 {
        let path = format!("/proc/{}/statm", self.process.pid());
        let text = std::fs::read_to_string(path).expect("it runs");
        let pages: u64 = text
            .split_whitespace()
            .nth(1)
            .and_then(|pages| pages.parse().ok())
            .expect("a number of pages");
        pages * 4096
    }

    /// Asks the admin listener.
    pub fn admin(&self, method: &str, path: &str) -> Answer {
        let output = self.output();
        let address = output
            .split("Admin on http://")
            .nth(1)
            .and_then(|rest| rest.split_whitespace().next())
            .expect("the host was started with --admin-listen");
        let mut stream = TcpStream::connect(address).expect("the admin listener accepts");
        stream.set_read_timeout(Some(SOON)).expect("a time");
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n"
        )
        .expect("written");
        read_answer(&mut stream)
    }

    /// What the admin listener tells now.
    pub fn metrics(&self) -> Exposition {
        let answer = self.admin("GET", "/metrics");
        assert_eq!(
            answer.header("content-type"),
            Some("text/plain; version=0.0.4; charset=utf-8")
        );
        Exposition::parse(&answer.body)
    }

    /// Whether the sample `key` becomes `value` soon.
    pub fn wait_for_metric(&self, key: &str, value: f64) -> bool {
        let start = Instant::now();
        while self.metrics().get(key) != value {
            if start.elapsed() > SOON {
                return false;
            }
            thread::sleep(Duration::from_millis(50));
        }
        true
    }

    /// It still answers as it should.
    pub fn assert_well(&self) {
        let answer = self.get("/");
        assert_eq!((answer.status, answer.body.as_str()), (200, "ok"));
    }
}

/// The statuses of this many GETs of `path`, all at once, over as few HTTP/2 connections as `connections`.
pub fn at_once(host: &Host, path: &str, requests: usize, connections: usize) -> Vec<u16> {
    use http_body_util::{BodyExt, Empty};
    use hyper_util::rt::{TokioExecutor, TokioIo};

    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let mut asked = tokio::task::JoinSet::new();
        for connection in 0..connections {
            let stream = tokio::net::TcpStream::connect(host.address).await;
            let stream = TokioIo::new(stream.expect("the host accepts"));
            let (sender, driven) =
                hyper::client::conn::http2::handshake(TokioExecutor::new(), stream)
                    .await
                    .expect("HTTP/2");
            tokio::spawn(driven);
            for _ in (connection..requests).step_by(connections) {
                let mut sender = sender.clone();
                let request = http::Request::get(format!("http://test{path}"))
                    .body(Empty::<hyper::body::Bytes>::new())
                    .expect("a request");
                asked.spawn(async move {
                    sender.ready().await.expect("room for a stream");
                    let response = sender.send_request(request).await.expect("an answer");
                    let status = response.status().as_u16();
                    response.collect().await.expect("a whole body");
                    status
                });
            }
        }
        let all = tokio::time::timeout(3 * SOON, asked.join_all());
        all.await.expect("all are answered soon")
    })
}

/// A server on kept connections, which answers each request's head with what `answer` makes of it.
pub fn server(answer: impl Fn(&str) -> String + Clone + Send + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("bound");
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let answer = answer.clone();
            thread::spawn(move || {
                let mut lines = BufReader::new(stream.try_clone().expect("a handle")).lines();
                let mut head = String::new();
                while let Some(Ok(line)) = lines.next() {
                    if !line.is_empty() {
                        head += &format!("{line}\n");
                    } else if stream
                        .write_all(answer(&std::mem::take(&mut head)).as_bytes())
                        .is_err()
                    {
                        return;
                    }
                }
            });
        }
    });
    address
}

/// An answer as it came over the wire.
#[derive(Debug)]
pub struct Answer {
    /// 0 when the host closed without one.
    pub status: u16,
    pub head: String,
    pub body: String,
    /// The body came as a whole: its length or its last chunk was there.
    pub whole: bool,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (found, value) = line.split_once(':')?;
            found.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }
}

pub fn read_answer(stream: &mut impl Read) -> Answer {
    let mut bytes = Vec::new();
    // A reset after the answer is no different from its end.
    let _ = stream.read_to_end(&mut bytes);
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let (head, rest) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head
        .split(' ')
        .nth(1)
        .and_then(|status| status.parse().ok())
        .unwrap_or(0);
    let mut answer = Answer {
        status,
        head: head.to_owned(),
        body: rest.to_owned(),
        whole: false,
    };
    match answer.header("content-length") {
        Some(length) => answer.whole = length.parse() == Ok(rest.len()),
        None => {
            let mut body = String::new();
            let mut left = rest;
            while let Some((size, data)) = left.split_once("\r\n") {
                let size = usize::from_str_radix(size, 16).unwrap_or(0);
                answer.whole = size == 0;
                if size == 0 || data.len() < size {
                    break;
                }
                body += &data[..size];
                left = data[size..].trim_start_matches("\r\n");
            }
            answer.body = body;
        }
    }
    answer
}
