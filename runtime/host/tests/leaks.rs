//! Nothing stays behind: after every abuse instances, places in the pool, sockets and memory are back where they were.

mod common;

use std::io::{Read, Write};
use std::thread;
use std::time::{Duration, Instant};

use common::{Host, SOON, at_once};

const ADMIN: [&str; 4] = ["--admin-listen", "127.0.0.1:0", "-q", "--log-level=error"];

/// What stayed the same must not have grown by more: allocators and the pool keep some.
const SLACK: u64 = 24 << 20;

/// Instances, places in the pool, queue, connections of clients and outbound ones.
fn assert_idle(host: &Host) {
    let start = Instant::now();
    loop {
        let seen = host.metrics();
        let left: Vec<(&str, f64)> = [
            "levelfield_host_instances{",
            "levelfield_host_pool_instances{",
            "levelfield_host_pool_memories{",
            "levelfield_host_requests_in_flight{",
            "levelfield_host_queued_requests",
            "levelfield_host_connections",
        ]
        .into_iter()
        .map(|name| {
            // `connections` is a prefix of others.
            let exact = !name.ends_with('{');
            (
                name,
                if exact {
                    seen.get(name)
                } else {
                    seen.sum(&[name])
                },
            )
        })
        .filter(|(_, value)| *value != 0.0)
        .collect();
        if left.is_empty() {
            return;
        }
        assert!(start.elapsed() < SOON, "still there: {left:?}");
        thread::sleep(Duration::from_millis(50));
    }
}

/// File descriptors, once there are no more than `before`, or after a while.
fn descriptors(host: &Host, before: usize) -> usize {
    let start = Instant::now();
    while host.descriptors() > before && start.elapsed() < SOON {
        thread::sleep(Duration::from_millis(50));
    }
    host.descriptors()
}

#[test]
fn nothing_stays_of_guests_that_misbehave() {
    let guests = [
        ("trap", "trap"),
        ("loop", "spin_forever"),
        ("grow", "grow"),
        ("overflow", "overflow"),
        ("handles", "handles"),
        ("refuse", "refuse"),
        ("short", "short_body"),
        ("long", "long_body"),
        ("endless", "endless_body"),
        ("half", "trap_after_headers"),
        ("events", "events"),
        ("old", "wasi02"),
    ];
    let flags = [
        "--workers",
        "2",
        "--request-timeout",
        "0.5",
        "--idle-instance-timeout",
        "0.2",
        "--max-instance-memory",
        "67108864",
    ];
    let (_directory, host) = Host::with_guests(&guests, &[&ADMIN[..], &flags[..]].concat());
    let abuse = |times: usize| {
        for _ in 0..times {
            let old = [
                "trap", "loop", "grow", "overflow", "silence", "short", "long", "half",
            ];
            let old = old.map(|bad| format!("old/{bad}"));
            let new = guests.map(|(id, _)| format!("bad/{id}/"));
            for path in new.iter().chain(&old).chain([&"old/endless".into()]) {
                // A client that leaves as soon as it has seen something: bodies without an end are among these.
                let mut stream = host.connect();
                write!(stream, "GET /{path} HTTP/1.1\r\nhost: test\r\n\r\n").unwrap();
                let _ = stream.read(&mut [0; 512]);
            }
        }
        assert_idle(&host);
    };
    // Once, so that what is made at first use was made: the image of each component's memory, for one.
    abuse(1);
    let before = host.descriptors();
    let memory = host.memory();
    abuse(4);
    assert!(descriptors(&host, before) <= before);
    let grown = host.memory().saturating_sub(memory);
    assert!(grown < SLACK, "grew by {grown} bytes");
    for (id, _) in guests {
        assert_eq!(host.get(&format!("/{id}/")).status, 200, "{id}");
    }
}

#[test]
fn nothing_stays_of_two_thousand_requests_at_once_on_a_thousand_places() {
    let flags = [
        "--max-instance-concurrent-reuse-count",
        "1",
        "--max-instances",
        "1000",
        "--max-concurrent-requests",
        "1000",
        "--max-queued-requests",
        "2000",
    ];
    let host = Host::with_guest("slow", &[&ADMIN[..], &flags[..]].concat());
    let round = || {
        let statuses = at_once(&host, "/300", 2000, 10);
        assert_eq!(statuses.iter().filter(|s| **s == 200).count(), 2000);
        assert_idle(&host);
        host.memory()
    };
    // What the allocator keeps goes up and down from round to round; what leaks is in the lowest too.
    let lowest = || (0..3).map(|_| round()).min().unwrap();
    let memory = lowest();
    let before = host.descriptors();
    let seen = host.metrics();
    assert_eq!(
        seen.get("levelfield_host_requests_total{component=\"slow\",status=\"2xx\"}"),
        6000.0
    );
    let grown = lowest().saturating_sub(memory);
    assert!(grown < SLACK, "grew by {grown} bytes");
    assert!(descriptors(&host, before) <= before);
}
