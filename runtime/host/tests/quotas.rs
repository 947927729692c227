//! Limits that count over all cores: one busy core may use what others do not.

mod common;

use common::{Host, at_once};

#[test]
fn a_core_with_all_the_connections_is_not_held_to_its_fair_share() {
    let host = Host::with_guest(
        "slow",
        &[
            "--workers",
            "2",
            "--max-concurrent-requests",
            "8",
            "--max-queued-requests",
            "0",
        ],
    );
    // One connection is one core's. One of eight places is the other core's own; the fair share would be four.
    let statuses = at_once(&host, "/500", 7, 1);
    assert_eq!(statuses, [200; 7]);
    let statuses = at_once(&host, "/500", 12, 1);
    let with = |status| statuses.iter().filter(|s| **s == status).count();
    assert_eq!((with(200), with(503)), (7, 5));
    // All places were given back.
    assert_eq!(at_once(&host, "/500", 7, 1), [200; 7]);
}

#[test]
fn who_waits_on_one_core_gets_what_another_gives_back() {
    let host = Host::with_guest(
        "slow",
        &["--workers", "4", "--max-concurrent-requests", "1"],
    );
    let statuses = at_once(&host, "/20", 40, 8);
    assert_eq!(statuses, [200; 40]);
}
