//! One HTTP/1.1 connection over a raw socket: the request target goes out byte for byte as given.
//!
//! A client library would normalise the very paths that the contract is about, and would hide how a body was framed.
//! Every wait has a deadline. TLS, redirects, compression and proxies are none of its business.

mod origin;

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

pub use origin::{InvalidUrl, Origin};

/// A head longer than this is refused, so that a broken server cannot fill memory.
const MAX_HEAD: usize = 64 * 1024;
const MAX_BODY: usize = 16 * 1024 * 1024;
const MAX_HEADERS: usize = 128;

/// A method and a raw request target.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    pub method: &'a str,
    pub target: &'a str,
}

#[derive(Clone, Debug)]
pub struct Response {
    pub status: u16,
    /// In the order received, names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// Head and body as they came over the wire.
    pub wire_bytes: usize,
    /// False when the server announced that it closes, or the body ended with the connection.
    pub keep_alive: bool,
}

impl Response {
    /// All values of this header, joined as RFC 9110 5.3 joins them; `name` in lower case.
    pub fn header(&self, name: &str) -> Option<String> {
        let values: Vec<&str> = self
            .headers
            .iter()
            .filter(|(header, _)| header == name)
            .map(|(_, value)| value.as_str())
            .collect();
        (!values.is_empty()).then(|| values.join(", "))
    }
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum ExchangeError {
    #[error("cannot connect to {address}: {source}")]
    Connect {
        address: SocketAddr,
        source: std::io::Error,
    },
    #[error("no complete answer within {} ms", .0.as_millis())]
    TimedOut(Duration),
    #[error("the server closed the connection before it answered")]
    Closed,
    #[error("the server closed the connection inside its answer")]
    Truncated,
    #[error("{} bytes that belong to no answer were on the connection: {}", .0.len(), .0.escape_ascii())]
    StrayBytes(Vec<u8>),
    #[error("the answer is not HTTP/1.1: {0}")]
    Malformed(String),
    #[error("{0}")]
    Io(std::io::Error),
}

impl ExchangeError {
    /// The class under which a load generator counts it.
    pub fn class(&self) -> &'static str {
        match self {
            Self::Connect { source, .. } if source.kind() == ErrorKind::ConnectionRefused => {
                "connection refused"
            }
            Self::Connect { .. } => "cannot connect",
            Self::TimedOut(_) => "timeout",
            Self::Closed | Self::Truncated | Self::Io(_) => "connection lost",
            Self::StrayBytes(_) | Self::Malformed(_) => "malformed answer",
        }
    }
}

/// A kept-alive connection. After an error it is of no more use.
#[derive(Debug)]
pub struct Connection {
    stream: TcpStream,
    authority: String,
    /// Read and not yet consumed.
    buffer: Vec<u8>,
}

impl Connection {
    pub fn open(origin: &Origin, within: Duration) -> Result<Self, ExchangeError> {
        let connect = |source| ExchangeError::Connect {
            address: origin.address,
            source,
        };
        let stream = TcpStream::connect_timeout(&origin.address, within).map_err(connect)?;
        stream.set_nodelay(true).map_err(connect)?;
        Ok(Self {
            stream,
            authority: origin.authority.clone(),
            buffer: Vec::with_capacity(1024),
        })
    }

    /// Sends one request and reads its answer to the end, `within` counted from now.
    pub fn exchange(
        &mut self,
        request: Request<'_>,
        within: Duration,
    ) -> Result<Response, ExchangeError> {
        if !self.buffer.is_empty() {
            return Err(ExchangeError::StrayBytes(std::mem::take(&mut self.buffer)));
        }
        let deadline = Deadline::after(within);
        self.write(&self.bytes_of(request), &deadline)?;
        self.read_answer(request.method, &deadline)
    }

    /// The request as it goes over the wire.
    pub fn bytes_of(&self, request: Request<'_>) -> Vec<u8> {
        let Request { method, target } = request;
        // Methods that may carry content say that there is none (RFC 9110 8.6).
        let content = match method {
            "POST" | "PUT" | "PATCH" => "content-length: 0\r\n",
            _ => "",
        };
        format!(
            "{method} {target} HTTP/1.1\r\nhost: {}\r\nuser-agent: levelfield\r\naccept: */*\r\n{content}\r\n",
            self.authority
        )
        .into_bytes()
    }

    /// Sends these bytes in one write: a part of a request, or several requests.
    pub fn send(&mut self, bytes: &[u8], within: Duration) -> Result<(), ExchangeError> {
        self.write(bytes, &Deadline::after(within))
    }

    /// Reads the next answer, to a request of this method; what came after it is kept for the answer after that.
    pub fn receive(&mut self, method: &str, within: Duration) -> Result<Response, ExchangeError> {
        self.read_answer(method, &Deadline::after(within))
    }

    fn write(&mut self, bytes: &[u8], deadline: &Deadline) -> Result<(), ExchangeError> {
        self.stream
            .set_write_timeout(Some(deadline.left()?))
            .and_then(|()| self.stream.write_all(bytes))
            .map_err(|error| deadline.explain(error))
    }

    fn read_answer(
        &mut self,
        method: &str,
        deadline: &Deadline,
    ) -> Result<Response, ExchangeError> {
        let mut wire_bytes = 0;
        loop {
            let (head, length) = self.read_head(deadline)?;
            wire_bytes += length;
            if (100..200).contains(&head.status) {
                continue; // an interim answer; the final one follows
            }
            return self.read_body(head, method, wire_bytes, deadline);
        }
    }

    fn read_head(&mut self, deadline: &Deadline) -> Result<(Response, usize), ExchangeError> {
        loop {
            if !self.buffer.is_empty() {
                match parse_head(&self.buffer)? {
                    Some((head, length)) => {
                        self.buffer.drain(..length);
                        return Ok((head, length));
                    }
                    None if self.buffer.len() > MAX_HEAD => {
                        return Err(ExchangeError::Malformed(format!(
                            "its head is longer than {MAX_HEAD} bytes"
                        )));
                    }
                    None => {}
                }
            }
            let empty = self.buffer.is_empty();
            if self.fill(deadline)? == 0 {
                return Err(match empty {
                    true => ExchangeError::Closed,
                    false => ExchangeError::Truncated,
                });
            }
        }
    }

    fn read_body(
        &mut self,
        mut head: Response,
        method: &str,
        wire_bytes: usize,
        deadline: &Deadline,
    ) -> Result<Response, ExchangeError> {
        let mut received = 0;
        match Framing::of(&head, method)? {
            Framing::None => {}
            Framing::Length(length) => {
                while self.buffer.len() < length {
                    if self.fill(deadline)? == 0 {
                        return Err(ExchangeError::Truncated);
                    }
                }
                head.body = self.buffer.drain(..length).collect();
                received = length;
            }
            Framing::Chunked => {
                received = self.read_chunks(&mut head.body, deadline)?;
            }
            Framing::UntilClose => {
                while self.fill(deadline)? > 0 {
                    check_size(self.buffer.len())?;
                }
                head.body = std::mem::take(&mut self.buffer);
                received = head.body.len();
                head.keep_alive = false;
            }
        }
        head.wire_bytes = wire_bytes + received;
        Ok(head)
    }

    fn read_chunks(
        &mut self,
        body: &mut Vec<u8>,
        deadline: &Deadline,
    ) -> Result<usize, ExchangeError> {
        let mut received = 0;
        loop {
            let line = self.read_line(deadline, &mut received)?;
            let digits = line.split(';').next().unwrap_or_default().trim();
            let size = usize::from_str_radix(digits, 16)
                .map_err(|_| ExchangeError::Malformed(format!("{line:?} is no chunk size")))?;
            if size == 0 {
                while !self.read_line(deadline, &mut received)?.is_empty() {} // trailers
                return Ok(received);
            }
            check_size(body.len().saturating_add(size))?;
            while self.buffer.len() < size + 2 {
                if self.fill(deadline)? == 0 {
                    return Err(ExchangeError::Truncated);
                }
            }
            body.extend(self.buffer.drain(..size));
            let end: Vec<u8> = self.buffer.drain(..2).collect();
            if end != b"\r\n" {
                return Err(ExchangeError::Malformed(
                    "a chunk runs on past its size".into(),
                ));
            }
            received += size + 2;
        }
    }

    fn read_line(
        &mut self,
        deadline: &Deadline,
        received: &mut usize,
    ) -> Result<String, ExchangeError> {
        loop {
            if let Some(end) = self.buffer.windows(2).position(|pair| pair == b"\r\n") {
                let line: Vec<u8> = self.buffer.drain(..end + 2).take(end).collect();
                *received += end + 2;
                return Ok(String::from_utf8_lossy(&line).into_owned());
            }
            check_size(self.buffer.len())?;
            if self.fill(deadline)? == 0 {
                return Err(ExchangeError::Truncated);
            }
        }
    }

    /// Reads what has come; 0 is the end of the stream.
    fn fill(&mut self, deadline: &Deadline) -> Result<usize, ExchangeError> {
        let mut chunk = [0; 16 * 1024];
        loop {
            self.stream
                .set_read_timeout(Some(deadline.left()?))
                .map_err(ExchangeError::Io)?;
            match self.stream.read(&mut chunk) {
                Ok(length) => {
                    self.buffer.extend_from_slice(&chunk[..length]);
                    return Ok(length);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(deadline.explain(error)),
            }
        }
    }
}

fn check_size(length: usize) -> Result<(), ExchangeError> {
    match length > MAX_BODY {
        true => Err(ExchangeError::Malformed(format!(
            "its body is longer than {MAX_BODY} bytes"
        ))),
        false => Ok(()),
    }
}

/// The head in `bytes` and its length, or `None` while it is not all there.
fn parse_head(bytes: &[u8]) -> Result<Option<(Response, usize)>, ExchangeError> {
    let mut slots = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut parsed = httparse::Response::new(&mut slots);
    let length = match parsed.parse(bytes) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(error) => {
            let start = &bytes[..bytes.len().min(80)];
            return Err(ExchangeError::Malformed(format!(
                "{error} in {:?}",
                start.escape_ascii().to_string()
            )));
        }
    };
    let headers: Vec<(String, String)> = parsed
        .headers
        .iter()
        .map(|header| {
            let value = String::from_utf8_lossy(header.value);
            (header.name.to_ascii_lowercase(), value.trim().to_owned())
        })
        .collect();
    let mut response = Response {
        status: parsed.code.unwrap_or_default(),
        headers,
        body: Vec::new(),
        wire_bytes: length,
        keep_alive: true,
    };
    let connection = response.header("connection").unwrap_or_default();
    let says = |token: &str| {
        connection
            .split(',')
            .any(|part| part.trim().eq_ignore_ascii_case(token))
    };
    response.keep_alive = match parsed.version {
        Some(0) => says("keep-alive"),
        _ => !says("close"),
    };
    Ok(Some((response, length)))
}

/// How the body's end is found (RFC 9112 6.3).
enum Framing {
    None,
    Length(usize),
    Chunked,
    UntilClose,
}

impl Framing {
    fn of(head: &Response, method: &str) -> Result<Self, ExchangeError> {
        if method == "HEAD" || matches!(head.status, 204 | 304) {
            return Ok(Self::None);
        }
        if let Some(coding) = head.header("transfer-encoding") {
            return match coding.to_ascii_lowercase().ends_with("chunked") {
                true => Ok(Self::Chunked),
                false => Ok(Self::UntilClose),
            };
        }
        match head.header("content-length") {
            None => Ok(Self::UntilClose),
            Some(text) => {
                let length = text.parse().map_err(|_| {
                    ExchangeError::Malformed(format!("{text:?} is no content-length"))
                })?;
                check_size(length)?;
                Ok(Self::Length(length))
            }
        }
    }
}

struct Deadline {
    at: Instant,
    within: Duration,
}

impl Deadline {
    fn after(within: Duration) -> Self {
        Self {
            at: Instant::now() + within,
            within,
        }
    }

    fn left(&self) -> Result<Duration, ExchangeError> {
        match self.at.checked_duration_since(Instant::now()) {
            // Zero would mean "wait for ever" to the socket.
            Some(left) if !left.is_zero() => Ok(left),
            _ => Err(ExchangeError::TimedOut(self.within)),
        }
    }

    fn explain(&self, error: std::io::Error) -> ExchangeError {
        match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => ExchangeError::TimedOut(self.within),
            ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => ExchangeError::Closed,
            _ => ExchangeError::Io(error),
        }
    }
}
