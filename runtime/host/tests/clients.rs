//! Clients that misbehave, and the limits they meet.

mod common;

use std::io::Write;
use std::thread;
use std::time::Duration;

use common::{Host, read_answer};

#[test]
fn what_is_not_http_is_a_400_or_a_closed_connection() {
    let host = Host::with_guest("slow", &[]);
    for request in [
        "\r\n\r\n\r\nnonsense\r\n\r\n",
        "GET / HTTP/9.9\r\nhost: test\r\n\r\n",
        "GET / HTTP/1.1\r\nhost : test\r\n\r\n",
        "GET / HTTP/1.1\r\nhost: test\r\nbad header\r\n\r\n",
        "G@T / HTTP/1.1\r\nhost: test\r\n\r\n",
        "POST / HTTP/1.1\r\nhost: test\r\ncontent-length: -1\r\n\r\n",
        "POST / HTTP/1.1\r\nhost: test\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n",
        "POST / HTTP/1.1\r\nhost: test\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        "\u{0}\u{1}\u{2}\u{3}\r\n\r\n",
    ] {
        let mut stream = host.connect();
        let _ = stream.write_all(request.as_bytes());
        // The host may have closed already.
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let answer = read_answer(&mut stream);
        // A broken chunk is found only when the body is read, which this guest does not do.
        let unread = request.contains("chunked") && answer.status == 200;
        assert!(
            matches!(answer.status, 0 | 400) || unread,
            "{request:?}: {answer:?}"
        );
    }
    host.assert_well();
}

#[test]
fn a_request_without_one_usable_host_is_a_400_with_a_body() {
    let host = Host::with_guest("slow", &[]);
    for head in [
        "GET / HTTP/1.1\r\n",
        "GET / HTTP/1.1\r\nhost: a\r\nhost: b\r\n",
        "GET / HTTP/1.1\r\nhost: a:b\r\n",
        "GET / HTTP/1.1\r\nhost: user@a\r\n",
        "GET http://a/ HTTP/1.1\r\nhost: b\r\n",
    ] {
        let answer = host.send(&format!("{head}connection: close\r\n\r\n"));
        assert_eq!(answer.status, 400, "{head:?}");
        assert!(!answer.body.is_empty(), "{head:?}");
    }
    let same = "GET http://a/ HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n";
    assert_eq!(host.send(same).status, 200);
}

#[test]
fn a_header_value_that_is_not_utf8_is_a_400() {
    let host = Host::with_guest("slow", &[]);
    let mut stream = host.connect();
    stream
        .write_all(b"GET / HTTP/1.1\r\nhost: test\r\nx: \xff\r\nconnection: close\r\n\r\n")
        .unwrap();
    assert_eq!(read_answer(&mut stream).status, 400);
}

#[test]
fn sizes_past_their_limits_are_414_431_and_413() {
    let host = Host::with_guest(
        "echo",
        &[
            "--max-path-length",
            "1000",
            "--max-request-head",
            "8192",
            "--max-request-body",
            "1000",
        ],
    );
    let long = "x".repeat(2000);
    assert_eq!(host.get(&format!("/{long}")).status, 414);
    let big = "x".repeat(20_000);
    let answer = host.send(&format!(
        "GET / HTTP/1.1\r\nhost: test\r\nx: {big}\r\nconnection: close\r\n\r\n"
    ));
    assert_eq!(answer.status, 431);
    let answer = host.send(&format!(
        "POST / HTTP/1.1\r\nhost: test\r\nconnection: close\r\ncontent-length: 2000\r\n\r\n{long}"
    ));
    assert_eq!(answer.status, 413);
    // Not announced: found while it is read, when the answer may have begun.
    let answer = host.send(&format!(
        "POST / HTTP/1.1\r\nhost: test\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n7d0\r\n{long}\r\n0\r\n\r\n"
    ));
    let passed = answer.whole && answer.status == 200;
    assert!(!passed && !answer.body.contains(&long));
    let answer = host.send(
        "POST / HTTP/1.1\r\nhost: test\r\nconnection: close\r\ncontent-length: 5\r\n\r\nhello",
    );
    assert_eq!((answer.status, answer.body.as_str()), (200, "hello"));
}

#[test]
fn a_client_that_dribbles_its_head_is_let_go() {
    let host = Host::with_guest("slow", &["--client-timeout", "1", "--workers", "1"]);
    let mut stream = host.connect();
    stream.write_all(b"GET / HTT").unwrap();
    let others = host.connect();
    host.assert_well();
    let answer = read_answer(&mut stream);
    assert!(matches!(answer.status, 0 | 408), "{answer:?}");
    drop(others);
    host.assert_well();
}

#[test]
fn a_client_that_leaves_early_frees_its_place() {
    let host = Host::with_guest(
        "slow",
        &["--workers", "1", "--max-concurrent-requests", "1"],
    );
    let mut stream = host.connect();
    stream
        .write_all(b"GET /60000 HTTP/1.1\r\nhost: test\r\n\r\n")
        .unwrap();
    thread::sleep(Duration::from_millis(200));
    drop(stream);
    host.assert_well();
}

#[test]
fn more_requests_than_places_wait_their_turn_and_more_than_that_are_a_503() {
    let host = Host::with_guest(
        "slow",
        &[
            "--workers",
            "1",
            "--max-concurrent-requests",
            "20",
            "--max-queued-requests",
            "20",
        ],
    );
    host.assert_well();
    let answers: Vec<_> = thread::scope(|scope| {
        let asked: Vec<_> = (0..60).map(|_| scope.spawn(|| host.get("/1500"))).collect();
        asked.into_iter().map(|a| a.join().unwrap()).collect()
    });
    let with = |status| answers.iter().filter(|a| a.status == status).count();
    assert_eq!((with(200), with(503)), (40, 20));
    let refused = answers.iter().find(|a| a.status == 503).unwrap();
    assert_eq!(refused.header("retry-after"), Some("1"));
    host.assert_well();
}

#[test]
fn instances_past_their_limit_are_not_made() {
    let host = Host::with_guest(
        "slow",
        &[
            "--workers",
            "1",
            "--max-instances",
            "2",
            "--max-instance-concurrent-reuse-count",
            "1",
        ],
    );
    let answers: Vec<u16> = thread::scope(|scope| {
        let asked: Vec<_> = (0..6)
            .map(|_| scope.spawn(|| host.get("/300").status))
            .collect();
        asked.into_iter().map(|a| a.join().unwrap()).collect()
    });
    assert_eq!(answers, [200; 6]);
}

#[test]
fn http2_with_prior_knowledge_is_spoken_on_the_same_port() {
    let host = Host::with_guest("slow", &[]);
    let mut stream = host.connect();
    // The preface and an empty SETTINGS frame; the host answers with a SETTINGS frame of its own.
    stream
        .write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0")
        .unwrap();
    let mut frame = [0; 9];
    std::io::Read::read_exact(&mut stream, &mut frame).unwrap();
    assert_eq!(frame[3], 4, "a SETTINGS frame");
}
