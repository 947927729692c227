//! What a guest may reach, and how.

mod common;

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use common::{Host, guest};

/// An app of the guest `fetch` that may reach `allowed`.
fn app(directory: &std::path::Path, allowed: &str) -> String {
    let manifest = directory.join("spin.toml");
    let wasm = guest("fetch");
    std::fs::write(
        &manifest,
        format!(
            "spin_manifest_version = 2\n[application]\nname = \"a\"\n\
             [[trigger.http]]\nroute = \"/...\"\ncomponent = \"fetch\"\n\
             [[trigger.http]]\nroute = {{ private = true }}\ncomponent = \"hidden\"\n\
             [component.fetch]\nsource = {wasm:?}\nallowed_outbound_hosts = [{allowed}]\n\
             [component.hidden]\nsource = {:?}\n",
            guest("hello")
        ),
    )
    .unwrap();
    manifest.to_str().unwrap().to_owned()
}

fn fetch(host: &Host, headers: &str) -> common::Answer {
    host.send(&format!(
        "GET / HTTP/1.1\r\nhost: test\r\nconnection: close\r\n{headers}\r\n"
    ))
}

/// A server that answers `hi` on kept connections and counts those.
fn server() -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = connections.clone();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            counted.fetch_add(1, Ordering::SeqCst);
            thread::spawn(move || {
                let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
                while let Some(Ok(line)) = lines.next() {
                    if line.starts_with("GET /stall") {
                        thread::sleep(Duration::from_secs(60));
                    }
                    if line.is_empty() {
                        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi");
                    }
                }
            });
        }
    });
    (address, connections)
}

#[test]
fn a_host_that_is_not_allowed_is_denied_with_the_line_to_add() {
    let host = Host::with_guest("fetch", &[]);
    let answer = fetch(&host, "x-url: http://127.0.0.1:1/\r\n");
    assert!(answer.body.contains("HttpRequestDenied"), "{answer:?}");
    assert!(host.wait_for_output("allowed_outbound_hosts = [\"http://127.0.0.1:1\"]"));
}

#[test]
fn requests_to_one_host_share_kept_connections() {
    let (address, connections) = server();
    let directory = tempfile::tempdir().unwrap();
    let manifest = app(directory.path(), &format!("\"http://{address}\""));
    let host = Host::up(&["--from", &manifest, "--workers", "1"]);
    for _ in 0..50 {
        let answer = fetch(&host, &format!("x-url: http://{address}/\r\n"));
        assert_eq!((answer.status, answer.body.as_str()), (200, "hi"));
    }
    assert_eq!(connections.load(Ordering::SeqCst), 1);
}

#[test]
fn connections_to_one_host_are_limited() {
    let (address, _) = server();
    let directory = tempfile::tempdir().unwrap();
    let manifest = app(directory.path(), &format!("\"http://{address}\""));
    let host = Host::up(&[
        "--from",
        &manifest,
        "--workers",
        "1",
        "--max-outbound-connections",
        "1",
        "--outbound-connect-timeout",
        "1",
        "--outbound-first-byte-timeout",
        "2",
    ]);
    thread::scope(|scope| {
        let stalled = scope.spawn(|| fetch(&host, &format!("x-url: http://{address}/stall\r\n")));
        thread::sleep(Duration::from_millis(500));
        let second = fetch(&host, &format!("x-url: http://{address}/\r\n"));
        assert!(second.body.contains("ConnectionLimitReached"), "{second:?}");
        let first = stalled.join().unwrap();
        assert!(first.body.contains("HttpResponseTimeout"), "{first:?}");
    });
}

#[test]
fn who_finds_every_connection_lent_waits_for_one() {
    let address = common::server(|_| {
        thread::sleep(Duration::from_millis(100));
        "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi".to_owned()
    });
    let directory = tempfile::tempdir().unwrap();
    let manifest = app(directory.path(), "\"http://127.0.0.1:*\"");
    let host = Host::up(&[
        "--from",
        &manifest,
        "--workers",
        "1",
        "--max-outbound-connections",
        "2",
    ]);
    thread::scope(|scope| {
        for _ in 0..10 {
            scope.spawn(|| {
                let answer = fetch(&host, &format!("x-url: http://{address}/\r\n"));
                assert_eq!(answer.body, "hi", "{answer:?}");
            });
        }
    });
}

#[test]
fn a_refused_connection_has_its_own_name() {
    let directory = tempfile::tempdir().unwrap();
    let manifest = app(directory.path(), "\"http://127.0.0.1:*\"");
    let host = Host::up(&["--from", &manifest]);
    let port = testbed::free_port();
    let answer = fetch(&host, &format!("x-url: http://127.0.0.1:{port}/\r\n"));
    assert!(answer.body.contains("ConnectionRefused"), "{answer:?}");
}

#[test]
fn a_path_cannot_smuggle_another_host_or_be_endless() {
    let (address, connections) = server();
    let directory = tempfile::tempdir().unwrap();
    let manifest = app(directory.path(), &format!("\"http://{address}\""));
    let host = Host::up(&["--from", &manifest, "--max-request-head", "200000"]);
    let long = format!("/{}", "x".repeat(100_000));
    for path in ["http://10.0.0.1/", "*", "evil", long.as_str()] {
        let answer = fetch(
            &host,
            &format!("x-url: http://{address}/\r\nx-path: {path}\r\n"),
        );
        assert_eq!(answer.body, "refused path", "{}", &path[..4]);
    }
    assert_eq!(connections.load(Ordering::SeqCst), 0);
}

#[test]
fn two_content_lengths_are_refused() {
    let host = Host::with_guest("fetch", &[]);
    for lengths in [
        "x-content-length: 1\r\nx-content-length: 2\r\n",
        "x-content-length: +1\r\n",
    ] {
        let answer = fetch(&host, &format!("x-url: http://127.0.0.1:1/\r\n{lengths}"));
        assert_eq!(answer.body, "refused content-length");
    }
}

#[test]
fn a_component_calls_another_and_itself_in_process() {
    let directory = tempfile::tempdir().unwrap();
    let manifest = app(
        directory.path(),
        "\"http://hidden.spin.internal\", \"http://self\"",
    );
    let host = Host::up(&["--from", &manifest, "--workers", "1"]);
    let answer = fetch(&host, "x-url: http://hidden.spin.internal/a/b?c\r\n");
    assert_eq!(answer.status, 200, "{answer:?}");
    for line in [
        "path /a/b?c",
        "header spin-path-info: /a/b",
        "header spin-matched-route: /...",
        "header spin-client-addr: 0.0.0.0:0",
    ] {
        assert!(answer.body.contains(line), "{line} in {}", answer.body);
    }
    let answer = fetch(&host, "x-url: http://self.alt/\r\n");
    assert_eq!((answer.status, answer.body.as_str()), (200, "ok"));
    let answer = fetch(&host, "x-url: http://self.alt/.well-known/spin/health\r\n");
    assert_eq!((answer.status, answer.body.as_str()), (200, "OK"));
    // A component that is reachable by chaining alone has no route.
    let answer = fetch(&host, "x-url: http://other.spin.internal/\r\n");
    assert!(answer.body.contains("HttpRequestDenied"));
}
