//! Servers for the lab's tests: each speaks HTTP/1.1 over a plain listener, and one function decides its answers.

#![allow(dead_code)] // every test file takes what it needs of this

pub mod bench;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;

/// What the server was asked.
pub struct Asked {
    pub method: String,
    pub target: String,
}

/// Serves until the test's process ends; `answer` gives the bytes to send, and none closes the connection.
pub fn serve(answer: impl Fn(&Asked) -> Vec<u8> + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let answer = Arc::new(answer);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let answer = Arc::clone(&answer);
            std::thread::spawn(move || serve_connection(stream, &*answer));
        }
    });
    address
}

fn serve_connection(stream: TcpStream, answer: &dyn Fn(&Asked) -> Vec<u8>) {
    stream.set_nodelay(true).unwrap();
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
    let mut stream = stream;
    while let Some(Ok(line)) = lines.next() {
        let mut words = line.split(' ');
        let asked = Asked {
            method: words.next().unwrap_or_default().to_owned(),
            target: words.next().unwrap_or_default().to_owned(),
        };
        // The rest of the head; no request of the lab has a body.
        while lines
            .next()
            .is_some_and(|line| line.is_ok_and(|line| !line.is_empty()))
        {}
        let bytes = answer(&asked);
        if bytes.is_empty() || stream.write_all(&bytes).is_err() {
            return;
        }
    }
}

/// A complete answer with an exact content-length; to HEAD it is sent without the body.
pub fn answer(asked: &Asked, status: u16, headers: &[(&str, &str)], body: &str) -> Vec<u8> {
    let mut text = format!("HTTP/1.1 {status} x\r\ncontent-length: {}\r\n", body.len());
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str("\r\n");
    if asked.method != "HEAD" {
        text.push_str(body);
    }
    text.into_bytes()
}

pub fn hello(asked: &Asked) -> Vec<u8> {
    let json = [("content-type", "application/json")];
    answer(asked, 200, &json, r#"{"message":"Hello world!"}"#)
}

/// A server that takes what one read gives for one request, as careless ones do.
pub fn careless_server() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let mut buffer = [0; 8192];
                while let Ok(length @ 1..) = stream.read(&mut buffer) {
                    let text = String::from_utf8_lossy(&buffer[..length]);
                    let mut words = text.split(' ');
                    let asked = Asked {
                        method: words.next().unwrap_or_default().to_owned(),
                        target: words.next().unwrap_or_default().to_owned(),
                    };
                    let bytes = match text.ends_with("\r\n\r\n") {
                        true => hello(&asked),
                        false => answer(&asked, 400, &[], ""),
                    };
                    if stream.write_all(&bytes).is_err() {
                        return;
                    }
                }
            });
        }
    });
    address
}
