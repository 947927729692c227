//! WASI 0.2 components: what misbehaves is answered as for 0.3, and every request has an instance of its own.

mod common;

use std::io::{Read, Write};
use std::thread;
use std::time::{Duration, Instant};

use common::{Host, SOON};

fn host(flags: &[&str]) -> Host {
    Host::with_guest("wasi02", &[&["-q"], flags].concat())
}

#[test]
fn a_component_gets_a_fresh_instance_for_each_request_unless_asked() {
    let fresh = host(&["--workers", "1"]);
    let seen: Vec<String> = (0..3).map(|_| fresh.get("/count").body).collect();
    assert_eq!(seen, ["1", "1", "1"]);
    let reused = host(&["--workers", "1", "--max-p2-instance-reuse-count", "2"]);
    let seen: Vec<String> = (0..5).map(|_| reused.get("/count").body).collect();
    assert_eq!(seen, ["1", "2", "1", "2", "1"]);
}

#[test]
fn a_trap_memory_without_end_and_a_full_stack_are_a_500() {
    let host = host(&["--max-instance-memory", "33554432"]);
    for bad in ["trap", "grow", "overflow"] {
        let answer = host.get(&format!("/bad/{bad}"));
        assert_eq!((answer.status, answer.body.as_str()), (500, ""), "{bad}");
        host.assert_well();
    }
}

#[test]
fn no_answer_at_all_is_a_500() {
    let host = host(&[]);
    assert_eq!(host.get("/bad/silence").status, 500);
    host.assert_well();
}

#[test]
fn a_loop_is_a_504_and_others_of_its_core_are_served_meanwhile() {
    let host = host(&["--workers", "1", "--request-timeout", "2"]);
    host.assert_well();
    thread::scope(|scope| {
        let bad = scope.spawn(|| host.get("/bad/loop").status);
        thread::sleep(Duration::from_millis(200));
        for _ in 0..5 {
            host.assert_well();
        }
        assert!(!bad.is_finished(), "the loop was still running");
        assert_eq!(bad.join().unwrap(), 504);
    });
    host.assert_well();
}

#[test]
fn waiting_too_long_is_a_504() {
    let host = host(&["--request-timeout", "0.5"]);
    assert_eq!(host.get("/slow?60000").status, 504);
    assert_eq!(host.get("/slow?10").status, 200);
}

#[test]
fn a_body_that_is_not_as_long_as_announced_never_looks_whole() {
    let host = host(&[]);
    for bad in ["short", "long"] {
        let answer = host.get(&format!("/bad/{bad}"));
        assert!(answer.status == 500 || !answer.whole, "{bad}: {answer:?}");
        host.assert_well();
    }
}

#[test]
fn a_trap_in_the_middle_of_a_body_cuts_it() {
    let host = host(&[]);
    let answer = host.get("/bad/half");
    assert_eq!((answer.status, answer.body.as_str()), (200, "half"));
    assert!(!answer.whole);
    host.assert_well();
}

#[test]
fn a_body_without_an_end_stops_when_its_client_leaves() {
    let host = host(&["--workers", "1", "--admin-listen", "127.0.0.1:0"]);
    let mut stream = host.connect();
    write!(stream, "GET /bad/endless HTTP/1.1\r\nhost: test\r\n\r\n").unwrap();
    let mut some = [0; 4096];
    assert!(stream.read(&mut some).unwrap() > 0);
    host.assert_well();
    drop(stream);
    let instances = "levelfield_host_instances{component=\"wasi02\"}";
    assert!(host.wait_for_metric(instances, 0.0));
}

#[test]
fn a_quiet_stream_lives_as_long_as_its_client_reads() {
    let host = host(&["--request-timeout", "0.5"]);
    let start = Instant::now();
    let answer = host.get("/events?3000");
    assert_eq!(answer.body, "data: 1\n\ndata: 2\n\n");
    assert!(answer.whole);
    assert!(start.elapsed() < SOON);
}

#[test]
fn a_path_cannot_smuggle_another_host_or_be_endless_and_lengths_are_one_number() {
    let host = host(&["--max-request-head", "200000"]);
    let fetch = |headers: &str| {
        host.send(&format!(
            "GET /fetch HTTP/1.1\r\nhost: test\r\nconnection: close\r\nx-url: http://127.0.0.1:1/\r\n{headers}\r\n"
        ))
    };
    let long = format!("/{}", "x".repeat(100_000));
    for path in ["http://10.0.0.1/", "*", "evil", long.as_str()] {
        assert_eq!(fetch(&format!("x-path: {path}\r\n")).body, "refused path");
    }
    for lengths in [
        "x-content-length: 1\r\nx-content-length: 2\r\n",
        "x-content-length: +1\r\n",
    ] {
        assert_eq!(fetch(lengths).body, "refused content-length");
    }
    assert!(fetch("").body.contains("HttpRequestDenied"));
}
