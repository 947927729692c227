//! What the host's tests share: the guests, the real binary around one of them, and a client that sees every byte.
#![allow(dead_code, reason = "each test file uses its part")]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::OnceLock;
use std::time::Duration;

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

    /// `up` with these flags, on a free port.
    pub fn up(flags: &[&str]) -> Self {
        Self::start(&mut up(flags))
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

    /// It still answers as it should.
    pub fn assert_well(&self) {
        let answer = self.get("/");
        assert_eq!((answer.status, answer.body.as_str()), (200, "ok"));
    }
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
