//! Bodies that take long: they live for as long as somebody reads them, and no longer.

mod common;

use std::io::{Read, Write};

use common::Host;

const INSTANCES: &str = "levelfield_host_instances{component=\"events\"}";

#[test]
fn a_quiet_stream_lives_as_long_as_its_client_reads() {
    // The time limit is one for the answer's head; a pause of six times as long is none of its business.
    let host = Host::with_guest("events", &["--request-timeout", "0.5"]);
    let answer = host.get("/events?3000");
    assert_eq!(answer.body, "data: 1\n\ndata: 2\n\n");
    assert!(answer.whole);
}

#[test]
fn a_stream_ends_soon_after_its_client_left() {
    let host = Host::with_guest(
        "events",
        &["--request-timeout", "0.5", "--admin-listen", "127.0.0.1:0"],
    );
    let mut stream = host.connect();
    write!(stream, "GET /events?3600000 HTTP/1.1\r\nhost: test\r\n\r\n").unwrap();
    let mut some = [0; 1024];
    assert!(stream.read(&mut some).unwrap() > 0);
    // Long enough for the instance to have been ended, were it not read.
    std::thread::sleep(std::time::Duration::from_millis(1500));
    assert_eq!(host.metrics().get(INSTANCES), 1.0);
    drop(stream);
    assert!(host.wait_for_metric(INSTANCES, 0.0));
    host.assert_well();
}

#[test]
fn a_client_that_stops_reading_does_not_keep_an_instance() {
    let host = Host::with_guest(
        "endless_body",
        &[
            "--request-timeout",
            "0.5",
            "--client-timeout",
            "0.5",
            "--admin-listen",
            "127.0.0.1:0",
        ],
    );
    let mut stream = host.connect();
    write!(stream, "GET /bad HTTP/1.1\r\nhost: test\r\n\r\n").unwrap();
    let mut some = [0; 1024];
    assert!(stream.read(&mut some).unwrap() > 0);
    let instances = "levelfield_host_instances{component=\"endless_body\"}";
    let gone = host.wait_for_metric(instances, 0.0);
    drop(stream);
    assert!(gone, "its connection was still open");
    host.assert_well();
}
