//! What the tests share: a running sidecar, a connection that can be kept, a store if there is one.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::time::{Duration, Instant};

use testbed::http::{self, Answer};
use testbed::mongo::{Kind, Mongo};
use testbed::{Error, Process, Ready};

/// Generous: two busy cores, many tests at once.
pub const SOON: Duration = Duration::from_secs(20);

pub const ARTHUR: &str =
    r#"{"Id":1,"Name":"Arthur","Surname":"Morgan","Email":"ArthurMorgan@mail.com"}"#;
pub const UNAVAILABLE: &str = r#"{"message":"users store unavailable"}"#;
pub const TIMED_OUT: &str = r#"{"message":"users store timed out"}"#;

/// The binary, with nothing of this process's environment that it listens to.
pub fn binary() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_levelfield-sidecar"));
    for name in [
        "CONNECTION_STRING",
        "SIDECAR_LISTEN",
        "SIDECAR_CONFIG",
        "SIDECAR_TOKEN",
        "SIDECAR_TOKEN_FILE",
        "SIDECAR_LOG",
    ] {
        command.env_remove(name);
    }
    command
}

pub struct Sidecar {
    pub process: Process,
    pub host: String,
}

impl Sidecar {
    pub fn embedded(args: &[&str]) -> Self {
        Self::start(binary().args(args))
    }

    pub fn mongodb(connection_string: &str, args: &[&str]) -> Self {
        Self::start(
            binary()
                .env("CONNECTION_STRING", connection_string)
                .args(args),
        )
    }

    /// Starts it on a port that it chooses itself.
    pub fn start(command: &mut Command) -> Self {
        let ready = Ready::Output(", ".to_owned());
        let command = command.args(["--listen", "127.0.0.1:0"]);
        let process = Process::start(command, ready, SOON).unwrap();
        let output = process.output();
        let host = output
            .split("://")
            .nth(1)
            .and_then(|rest| rest.split(',').next());
        let host = host.expect("the first line names the address").to_owned();
        Self { process, host }
    }

    pub fn get(&self, path: &str) -> Answer {
        http::get(&format!("http://{}{path}", self.host)).unwrap()
    }

    /// The status and the body of a GET.
    pub fn says(&self, path: &str) -> (u16, String) {
        let answer = self.get(path);
        (answer.status, answer.text())
    }

    pub fn wait_until_ready(&self) {
        eventually("the sidecar is ready", || self.get("/readyz").status == 200);
    }

    /// The value of a metric without labels.
    pub fn metric(&self, name: &str) -> i64 {
        let text = self.get("/metrics").text();
        let line = text
            .lines()
            .find(|line| line.starts_with(&format!("{name} ")));
        let line = line.unwrap_or_else(|| panic!("no {name} in\n{text}"));
        line.rsplit(' ').next().unwrap().parse().unwrap()
    }
}

pub fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + SOON;
    while !is_so() {
        assert!(Instant::now() < deadline, "not within {SOON:?}: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A connection that is kept between requests.
pub struct Connection {
    reader: BufReader<TcpStream>,
}

impl Connection {
    pub fn open(host: &str) -> io::Result<Self> {
        let stream = TcpStream::connect(host)?;
        stream.set_read_timeout(Some(SOON))?;
        stream.set_nodelay(true)?;
        Ok(Self {
            reader: BufReader::new(stream),
        })
    }

    pub fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.reader.get_mut().write_all(bytes)
    }

    pub fn stream(&self) -> &TcpStream {
        self.reader.get_ref()
    }

    pub fn get(&mut self, path: &str) -> io::Result<Answer> {
        self.send(format!("GET {path} HTTP/1.1\r\nhost: sidecar\r\n\r\n").as_bytes())?;
        self.receive(true)
    }

    /// Reads one answer, by its content-length.
    pub fn receive(&mut self, has_body: bool) -> io::Result<Answer> {
        let mut line = || {
            let mut line = String::new();
            match self.reader.read_line(&mut line)? {
                0 => Err(io::Error::from(io::ErrorKind::UnexpectedEof)),
                _ => Ok(line.trim_end().to_owned()),
            }
        };
        let status = line()?
            .split(' ')
            .nth(1)
            .and_then(|code| code.parse().ok())
            .unwrap_or(0);
        let mut headers = Vec::new();
        loop {
            let line = line()?;
            let Some((name, value)) = line.split_once(':') else {
                break;
            };
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let mut answer = Answer {
            status,
            headers,
            body: Vec::new(),
        };
        let length = answer
            .header("content-length")
            .and_then(|length| length.parse().ok());
        let length: usize = length.ok_or(io::ErrorKind::InvalidData)?;
        if has_body {
            answer.body.resize(length, 0);
            self.reader.read_exact(&mut answer.body)?;
        }
        Ok(answer)
    }

    pub fn is_closed(&mut self) -> bool {
        matches!(self.reader.read(&mut [0]), Ok(0) | Err(_))
    }
}

/// A server, or the word that there is none and `None`.
pub fn store(part: &str, kind: Option<Kind>) -> Option<Mongo> {
    let started = match kind {
        Some(kind) => Mongo::start_kind(kind),
        None => Mongo::start(),
    };
    present(part, started)
}

/// A server that may be stopped and have a proxy before it, or the word that there is none and `None`.
pub fn own_store(part: &str) -> Option<Mongo> {
    present(part, Mongo::start_own())
}

/// What could be started, or the word that its program is missing and `None`.
pub fn present(part: &str, started: testbed::Result<Mongo>) -> Option<Mongo> {
    match started {
        Ok(mongo) => Some(mongo),
        Err(Error::Missing(missing)) => {
            testbed::not_run(&format!("sidecar: {part}"), &missing);
            None
        }
        Err(error) => panic!("{error}"),
    }
}
