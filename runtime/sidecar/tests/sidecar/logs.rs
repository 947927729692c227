//! What is logged is bounded, whatever happens, and what is left out is counted.

use std::thread;
use std::time::{Duration, Instant};

use bson::doc;

use crate::faults::{fail_finds, failing_server, load};
use crate::harness::{Connection, Sidecar, eventually, own_store};
use crate::proxy::{Fault, Proxy};

/// As many as `quota.rs` allows in each span of 5 s.
const LINES: usize = 5;

/// Asks for the same again and again, and holds what is logged against it: a few lines of `line`,
/// and the number of the rest.
fn assert_few_lines_and_a_count(sidecar: &Sidecar, path: &str, status: u16, line: &str) {
    const REQUESTS: usize = 500;
    let begun = Instant::now();
    let mut connection = Connection::open(&sidecar.host).unwrap();
    for _ in 0..REQUESTS {
        assert_eq!(connection.get(path).unwrap().status, status);
    }
    let counted = || {
        let output = sidecar.process.output();
        let said = output.lines().filter(|it| it.contains(line)).count();
        let more = output.lines().filter_map(|it| it.split_once(" more in 5s"));
        let more = more.filter_map(|(before, _)| before.rsplit(' ').next()?.parse::<usize>().ok());
        (said, more.sum::<usize>())
    };
    eventually("every failure is said or counted", || {
        let (said, more) = counted();
        said + more == REQUESTS
    });
    let spans = 1 + begun.elapsed().as_secs() as usize / 5;
    assert!(counted().0 <= LINES * spans, "{:?}", counted());
}

#[test]
fn a_flood_of_malformed_records_is_a_few_lines_and_a_count() {
    let sidecar = Sidecar::embedded(&[]);
    assert_few_lines_and_a_count(&sidecar, "/users/6", 500, "_id 6 in users is malformed");
}

#[test]
fn a_flood_of_failed_reads_is_a_few_lines_and_a_count() {
    let Some(mongo) = failing_server("a flood of failed reads") else {
        return;
    };
    let sidecar = Sidecar::mongodb(mongo.connection_string(), &[]);
    sidecar.wait_until_ready();
    // Unauthorized: the server is there and its check passes, so that each request asks it.
    fail_finds(&mongo, "alwaysOn".into(), doc! { "errorCode": 13 });
    assert_few_lines_and_a_count(&sidecar, "/users/1", 503, "users: store unavailable");
}

#[test]
fn a_store_that_goes_and_comes_back_is_one_line_each() {
    let Some(mongo) = own_store("the lines of an outage") else {
        return;
    };
    let proxy = Proxy::to(mongo.port());
    let sidecar = Sidecar::mongodb(&proxy.connection_string(), &[]);
    sidecar.wait_until_ready();
    let lines = |text: &str| sidecar.process.output().matches(text).count();
    load(&sidecar, 8, || {
        proxy.set(Fault::Close);
        eventually("the outage is noticed", || lines("the store is down") > 0);
        thread::sleep(Duration::from_secs(2));
        proxy.set(Fault::None);
        sidecar.wait_until_ready();
    });
    let output = sidecar.process.output();
    // The first time it answers is when it starts.
    assert_eq!(
        (lines("the store is down"), lines("the store answers")),
        (1, 2),
        "{output}"
    );
    assert!(output.lines().count() < 30, "{output}");
}
