//! Guests that fail in every way: each gets its request the answer it deserves, and nobody else notices.

mod common;

use std::io::{Read, Write};
use std::thread;
use std::time::{Duration, Instant};

use common::{Host, SOON};

#[test]
fn a_trap_is_a_500_and_the_next_request_is_served() {
    let host = Host::with_guest("trap", &[]);
    host.assert_well();
    let answer = host.get("/bad");
    assert_eq!((answer.status, answer.body.as_str()), (500, ""));
    host.assert_well();
}

#[test]
fn a_panic_fails_what_is_in_flight_on_its_instance_and_nothing_else() {
    let host = Host::with_guest("trap", &["--workers", "1", "--admin-listen", "127.0.0.1:0"]);
    let in_flight = "levelfield_host_requests_in_flight{component=\"trap\"}";
    // Fifteen wait on one instance, which the sixteenth takes down.
    let answers: Vec<u16> = thread::scope(|scope| {
        let waiting: Vec<_> = (0..15)
            .map(|_| scope.spawn(|| host.get("/wait").status))
            .collect();
        assert!(host.wait_for_metric(in_flight, 15.0));
        let bad = scope.spawn(|| host.get("/bad/wait").status);
        assert!(host.wait_for_metric(in_flight, 16.0));
        // The instance is full: this one is on another.
        let other = scope.spawn(|| host.get("/wait").status);
        assert_eq!(bad.join().unwrap(), 500);
        assert_eq!(other.join().unwrap(), 200);
        waiting.into_iter().map(|w| w.join().unwrap()).collect()
    });
    assert_eq!(answers, vec![500; 15]);
    host.assert_well();
}

#[test]
fn an_infinite_loop_is_a_504_and_others_of_its_core_are_served_meanwhile() {
    let host = Host::with_guest(
        "spin_forever",
        &["--workers", "1", "--request-timeout", "2"],
    );
    host.assert_well();
    thread::scope(|scope| {
        let bad = scope.spawn(|| {
            let start = Instant::now();
            (host.get("/bad").status, start.elapsed())
        });
        thread::sleep(Duration::from_millis(200));
        for _ in 0..5 {
            host.assert_well();
        }
        assert!(!bad.is_finished(), "the loop was still running");
        let (status, took) = bad.join().unwrap();
        assert_eq!(status, 504);
        assert!(took < SOON);
    });
    host.assert_well();
}

#[test]
fn waiting_too_long_is_a_504_too() {
    let host = Host::with_guest("slow", &["--request-timeout", "0.5"]);
    assert_eq!(host.get("/60000").status, 504);
    assert_eq!(host.get("/10").status, 200);
}

#[test]
fn memory_past_the_limit_is_not_given() {
    let host = Host::with_guest("grow", &["--max-instance-memory", "33554432"]);
    host.assert_well();
    assert_eq!(host.get("/bad").status, 500);
    assert!(host.wait_for_output("--max-instance-memory"));
    host.assert_well();
}

#[test]
fn a_full_stack_is_a_500() {
    let host = Host::with_guest("overflow", &[]);
    assert_eq!(host.get("/bad").status, 500);
    host.assert_well();
}

#[test]
fn an_error_code_is_a_500() {
    let host = Host::with_guest("refuse", &[]);
    assert_eq!(host.get("/bad").status, 500);
    host.assert_well();
}

#[test]
fn a_body_shorter_than_announced_never_looks_whole() {
    let host = Host::with_guest("short_body", &[]);
    assert_eq!(host.get("/bad").status, 500);
    let late = host.get("/bad/late");
    assert_eq!(late.status, 200);
    assert!(!late.whole);
    host.assert_well();
}

#[test]
fn a_body_longer_than_announced_is_a_500() {
    let host = Host::with_guest("long_body", &[]);
    assert_eq!(host.get("/bad").status, 500);
    host.assert_well();
}

#[test]
fn a_trap_in_the_middle_of_a_body_cuts_it() {
    let host = Host::with_guest("trap_after_headers", &[]);
    let answer = host.get("/bad");
    assert_eq!((answer.status, answer.body.as_str()), (200, "half"));
    assert!(!answer.whole);
    host.assert_well();
}

#[test]
fn a_body_without_an_end_stops_when_its_client_leaves() {
    let host = Host::with_guest("endless_body", &["--workers", "1"]);
    host.assert_well();
    let before = host.descriptors();
    for path in ["/bad", "/bad/silent"] {
        let mut stream = host.connect();
        write!(stream, "GET {path} HTTP/1.1\r\nhost: test\r\n\r\n").unwrap();
        let mut some = [0; 4096];
        assert!(stream.read(&mut some).unwrap() > 0);
        drop(stream);
        host.assert_well();
    }
    let start = Instant::now();
    while host.descriptors() > before && start.elapsed() < SOON {
        thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(host.descriptors(), before);
}

#[test]
fn memory_and_sockets_return_to_their_base_after_a_thousand_traps() {
    let host = Host::with_guest("trap", &["--quiet", "--idle-instance-timeout", "0.1"]);
    for _ in 0..100 {
        host.get("/bad");
    }
    let memory = host.memory();
    let descriptors = host.descriptors();
    for _ in 0..1000 {
        host.get("/bad");
    }
    thread::sleep(Duration::from_millis(300));
    assert!(host.descriptors() <= descriptors);
    let grown = host.memory().saturating_sub(memory);
    assert!(grown < 16 << 20, "grew by {grown} bytes");
}
