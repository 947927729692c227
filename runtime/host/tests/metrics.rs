//! What the admin listener tells is what happened, counted exactly.

mod common;

use std::io::{Read, Write};
use std::thread;
use std::time::Duration;

use common::{Host, guest};

/// One app of these guests, and the listener.
fn host(guests: &[(&str, &str)], flags: &[&str]) -> (tempfile::TempDir, Host) {
    let admin = ["--admin-listen", "127.0.0.1:0", "-q"];
    Host::with_guests(guests, &[&admin[..], flags].concat())
}

#[test]
fn requests_are_counted_by_component_and_status_over_all_cores() {
    let (_directory, host) = host(
        &[("hello", "hello"), ("trap", "trap"), ("refuse", "refuse")],
        &["--workers", "3"],
    );
    for _ in 0..7 {
        host.get("/hello/a");
    }
    for _ in 0..3 {
        host.get("/bad/trap/");
    }
    host.get("/bad/refuse/");
    host.get("/fixed");
    host.get("/nothing");
    host.get("/.well-known/spin/health");
    host.send("GET / HTTP/1.1\r\nconnection: close\r\n\r\n");
    let seen = host.metrics();
    let requests = |component: &str, status: &str| {
        seen.get(&format!(
            "levelfield_host_requests_total{{component=\"{component}\",status=\"{status}\"}}"
        ))
    };
    assert_eq!(requests("hello", "2xx"), 7.0);
    assert_eq!(requests("trap", "5xx"), 3.0);
    assert_eq!(requests("refuse", "5xx"), 1.0);
    assert_eq!(
        (requests("", "2xx"), requests("", "4xx")),
        (1.0, 3.0),
        "health; 418, 404 and 400"
    );
    assert_eq!(seen.sum(&["levelfield_host_requests_total"]), 15.0);
    assert_eq!(seen.sum(&["request_duration_seconds_count"]), 15.0);
    assert_eq!(
        seen.get("levelfield_host_request_duration_seconds_count{component=\"hello\"}"),
        7.0
    );
    let failures = |component: &str, reason: &str| {
        seen.get(&format!(
            "levelfield_host_request_failures_total{{component=\"{component}\",reason=\"{reason}\"}}"
        ))
    };
    assert_eq!(failures("trap", "trap"), 3.0);
    assert_eq!(failures("refuse", "guest_error"), 1.0);
    assert_eq!(seen.sum(&["request_failures_total"]), 4.0);
    assert_eq!(seen.sum(&["levelfield_host_requests_in_flight"]), 0.0);
    assert_eq!(seen.get("levelfield_host_connections_accepted_total"), 15.0);
    let start = seen.get("process_start_time_seconds");
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap()
        .as_secs_f64();
    assert!((now - 600.0..=now + 2.0).contains(&start), "{start}, {now}");
}

#[test]
fn instances_are_counted_with_the_reason_of_their_end() {
    let guests = [
        ("hello", "hello"),
        ("slow", "slow"),
        ("trap", "trap"),
        ("overflow", "overflow"),
        ("grow", "grow"),
        ("handles", "handles"),
        ("loop", "spin_forever"),
    ];
    let (_directory, host) = host(
        &guests,
        &[
            "--workers",
            "1",
            "--max-instance-reuse-count",
            "2",
            "--max-instance-memory",
            "33554432",
            "--request-timeout",
            "2",
            "--idle-instance-timeout",
            "0.3",
        ],
    );
    for _ in 0..4 {
        host.get("/hello/");
    }
    host.get("/slow/");
    for id in ["trap", "overflow", "grow", "handles"] {
        assert_eq!(host.get(&format!("/bad/{id}/")).status, 500, "{id}");
    }
    assert_eq!(host.get("/bad/loop/").status, 504);
    let idle = host.wait_for_metric("levelfield_host_instances{component=\"slow\"}", 0.0);
    assert!(idle, "an unused instance ends");
    let seen = host.metrics();
    let retired = |component: &str, reason: &str| {
        seen.get(&format!(
            "levelfield_host_instances_retired_total{{component=\"{component}\",reason=\"{reason}\"}}"
        ))
    };
    assert_eq!(retired("hello", "reused_up"), 2.0);
    assert_eq!(retired("slow", "idle"), 1.0);
    assert_eq!(retired("trap", "trap"), 1.0);
    assert_eq!(retired("overflow", "trap"), 1.0);
    assert_eq!(retired("grow", "memory"), 1.0);
    assert_eq!(retired("handles", "handle_limit"), 1.0);
    assert_eq!(retired("loop", "timeout"), 1.0);
    assert_eq!(seen.sum(&["instances_created_total"]), 8.0);
    assert_eq!(seen.sum(&["instances_retired_total"]), 8.0);
    assert_eq!(seen.sum(&["levelfield_host_instances{"]), 0.0);
    let traps = |component: &str, kind: &str| {
        seen.get(&format!(
            "levelfield_host_traps_total{{component=\"{component}\",kind=\"{kind}\"}}"
        ))
    };
    assert_eq!(traps("trap", "unreachable"), 1.0);
    // The stack of a Rust guest lies in its memory.
    assert_eq!(traps("overflow", "out_of_bounds"), 1.0);
    assert_eq!(traps("grow", "memory"), 1.0);
    assert_eq!(traps("handles", "handle_limit"), 1.0);
    assert_eq!(seen.sum(&["levelfield_host_traps_total"]), 4.0);
    // Every machine that runs these tests has room for the pool.
    assert_eq!(
        seen.get("levelfield_host_pool_instances{wasi=\"0.3\"}"),
        0.0
    );
    assert_eq!(seen.get("levelfield_host_pool_size_instances"), 1000.0);
}

#[test]
fn what_is_in_flight_waits_or_was_given_up_shows() {
    let (_directory, host) = host(
        &[("slow", "slow")],
        &["--workers", "1", "--max-concurrent-requests", "2"],
    );
    let streams: Vec<_> = (0..3)
        .map(|_| {
            let mut stream = host.connect();
            stream
                .write_all(b"GET /slow/?60000 HTTP/1.1\r\nhost: test\r\n\r\n")
                .unwrap();
            stream
        })
        .collect();
    assert!(host.wait_for_metric("levelfield_host_queued_requests", 1.0));
    let seen = host.metrics();
    let in_flight = "levelfield_host_requests_in_flight{component=\"slow\"}";
    assert_eq!(seen.get(in_flight), 3.0);
    assert_eq!(seen.get("levelfield_host_connections"), 3.0);
    drop(streams);
    assert!(host.wait_for_metric(in_flight, 0.0));
    assert!(host.wait_for_metric("levelfield_host_connections", 0.0));
    let seen = host.metrics();
    assert_eq!(
        seen.get("levelfield_host_requests_total{component=\"slow\",status=\"aborted\"}"),
        3.0
    );
    assert_eq!(seen.get("levelfield_host_queued_requests"), 0.0);
}

#[test]
fn outbound_requests_are_counted_by_outcome_and_connections_by_use() {
    let guests = [("fetch", "fetch"), ("hello", "hello")];
    let (_directory, host) = host(&guests, &["--workers", "1"]);
    let server = common::server(|_| "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi".to_owned());
    let fetch = |url: &str| {
        host.send(&format!(
            "GET /fetch/ HTTP/1.1\r\nhost: test\r\nx-url: {url}\r\nconnection: close\r\n\r\n"
        ))
    };
    for _ in 0..4 {
        assert_eq!(fetch(&format!("http://{server}/")).body, "hi");
    }
    fetch("http://10.0.0.1/");
    fetch(&format!("http://127.0.0.1:{}/", testbed::free_port()));
    assert_eq!(fetch("http://hello.spin.internal/").status, 200);
    let seen = host.metrics();
    let outcome = |name: &str| {
        seen.get(&format!(
            "levelfield_host_outbound_requests_total{{component=\"fetch\",outcome=\"{name}\"}}"
        ))
    };
    assert_eq!(outcome("response"), 5.0);
    assert_eq!(outcome("denied"), 1.0);
    assert_eq!(outcome("refused"), 1.0);
    assert_eq!(seen.sum(&["outbound_requests_total"]), 7.0);
    assert_eq!(
        seen.get("levelfield_host_outbound_connections_created_total"),
        1.0
    );
    assert_eq!(seen.get("levelfield_host_outbound_connections"), 1.0);
    assert_eq!(seen.get("levelfield_host_outbound_connections_idle"), 1.0);
    // A call in process is a request of the component that answers it.
    assert_eq!(
        seen.get("levelfield_host_requests_total{component=\"hello\",status=\"2xx\"}"),
        1.0
    );
}

#[test]
fn the_admin_listener_says_whether_it_lives_and_is_ready() {
    let (_directory, host) = host(&[("slow", "slow")], &["--drain-delay", "1.5"]);
    assert_eq!(host.admin("GET", "/healthz").status, 200);
    assert_eq!(host.admin("GET", "/readyz").status, 200);
    assert_eq!(host.admin("GET", "/other").status, 404);
    let answer = host.admin("POST", "/metrics");
    assert_eq!(
        (answer.status, answer.header("allow")),
        (405, Some("GET, HEAD"))
    );
    host.terminate();
    thread::sleep(Duration::from_millis(500));
    assert_eq!(host.admin("GET", "/readyz").status, 503);
    assert_eq!(host.admin("GET", "/healthz").status, 200);
    assert_eq!(host.admin("GET", "/metrics").status, 200);
}

#[test]
fn a_taken_admin_port_is_named() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let hello = guest("hello");
    let output = common::command(&["up", "--listen", "127.0.0.1:0", "-L", "", "--from"])
        .arg(&hello)
        .args(["--admin-listen", &address])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(
        text.contains(&address) && text.contains("--admin-listen"),
        "{text}"
    );
}

#[test]
fn without_the_flag_there_is_no_admin_listener() {
    let host = Host::with_guest("slow", &[]);
    host.assert_well();
    assert!(!host.output().contains("Admin on"));
    // The public listener does not tell.
    let mut stream = host.connect();
    stream
        .write_all(b"GET /metrics HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n")
        .unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    assert!(text.ends_with("ok"), "the guest's own answer: {text}");
}
