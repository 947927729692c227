//! How long a guest's outbound request may take, each part of it.

mod common;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::thread;
use std::time::{Duration, Instant};

use common::{Host, SOON, guest};

fn host(flags: &[&str]) -> (tempfile::TempDir, Host) {
    let directory = tempfile::tempdir().unwrap();
    let manifest = directory.path().join("spin.toml");
    let text = format!(
        "spin_manifest_version = 2\n[application]\nname = \"a\"\n\
         [[trigger.http]]\nroute = \"/...\"\ncomponent = \"fetch\"\n\
         [component.fetch]\nsource = {:?}\nallowed_outbound_hosts = [\"*://127.0.0.1:*\"]\n",
        guest("fetch")
    );
    std::fs::write(&manifest, text).unwrap();
    let host = Host::up(&[&["--from", manifest.to_str().unwrap()], flags].concat());
    (directory, host)
}

fn fetch(host: &Host, url: &str) -> common::Answer {
    host.send(&format!(
        "GET / HTTP/1.1\r\nhost: test\r\nconnection: close\r\nx-url: {url}\r\n\r\n"
    ))
}

/// A server that reads a request's first bytes, sends `head` and then nothing.
fn silent_after(head: &'static str) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        let mut kept = Vec::new();
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 1024]);
            let _ = stream.write_all(head.as_bytes());
            kept.push(stream);
        }
    });
    address
}

#[test]
fn a_server_that_never_connects_is_given_up() {
    let (_directory, host) = host(&["--outbound-connect-timeout", "0.5"]);
    // A connection is one when TLS is agreed on, and this server does not speak it.
    let address = silent_after("");
    let start = Instant::now();
    let answer = fetch(&host, &format!("https://{address}/"));
    assert!(answer.body.contains("ConnectionTimeout"), "{answer:?}");
    assert!(start.elapsed() < SOON);
}

#[test]
fn a_server_that_accepts_no_more_is_given_up() {
    let (_directory, host) = host(&["--outbound-connect-timeout", "0.5"]);
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    let any: SocketAddr = "127.0.0.1:0".parse().unwrap();
    socket.bind(&any.into()).unwrap();
    socket.listen(0).unwrap();
    let address = socket.local_addr().unwrap().as_socket().unwrap();
    // Whoever waits to be accepted fills the queue; the kernel leaves others without an answer.
    let waiting: Vec<_> = (0..4)
        .map(|_| std::net::TcpStream::connect_timeout(&address, Duration::from_millis(200)))
        .collect();
    assert!(waiting.iter().any(Result::is_err), "the queue is full");
    let answer = fetch(&host, &format!("http://{address}/"));
    assert!(answer.body.contains("ConnectionTimeout"), "{answer:?}");
}

#[test]
fn a_server_that_does_not_answer_is_given_up() {
    let (_directory, host) = host(&["--outbound-first-byte-timeout", "0.5"]);
    let address = silent_after("");
    let answer = fetch(&host, &format!("http://{address}/"));
    assert!(answer.body.contains("HttpResponseTimeout"), "{answer:?}");
}

#[test]
fn a_server_that_stops_in_the_middle_of_a_body_is_given_up() {
    let (_directory, host) = host(&["--outbound-between-bytes-timeout", "0.5"]);
    let address = silent_after("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf");
    let start = Instant::now();
    let answer = fetch(&host, &format!("http://{address}/"));
    // The guest passes the body on, and how it ended.
    assert_eq!((answer.status, answer.body.as_str()), (200, "half"));
    assert!(!answer.whole);
    assert!(start.elapsed() < SOON);
}
