//! Reloading, draining, ending.

use std::time::{Duration, Instant};

use crate::harness::{ARTHUR, Connection, SOON, Sidecar, binary, eventually, own_store, store};
use crate::proxy::{Fault, Proxy};

#[test]
fn sighup_reads_the_configuration_again_without_dropping_a_request() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("sidecar.toml");
    let first = levelfield_sidecar::DEFAULT_CONFIG;
    let second = first.replace("/users/{", "/people/{");
    std::fs::write(&file, first).unwrap();
    let sidecar = Sidecar::embedded(&["--config", file.to_str().unwrap()]);
    let mut connection = Connection::open(&sidecar.host).unwrap();
    for text in [&second, first, &second, first] {
        std::fs::write(&file, text).unwrap();
        sidecar.process.signal(libc::SIGHUP);
        let path = if text == first {
            "/users/1"
        } else {
            "/people/1"
        };
        eventually("the new configuration is in force", || {
            let answer = connection.get(path).expect("no request is dropped");
            assert!(matches!(answer.status, 200 | 404), "{answer:?}");
            answer.status == 200
        });
    }
    std::fs::write(&file, "database = 1").unwrap();
    sidecar.process.signal(libc::SIGHUP);
    assert!(
        sidecar
            .process
            .wait_for_output("the old configuration stays", SOON)
    );
    assert_eq!(connection.get("/users/1").unwrap().text(), ARTHUR);
}

#[test]
fn sighup_reads_the_tokens_again() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("token");
    std::fs::write(&file, "the-old-token-of-ours\n").unwrap();
    let sidecar = Sidecar::embedded(&["--token-file", file.to_str().unwrap()]);
    let status = |token: &str| {
        let mut connection = Connection::open(&sidecar.host).unwrap();
        let head =
            format!("GET /users/1 HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\n\r\n");
        connection.send(head.as_bytes()).unwrap();
        connection.receive(true).unwrap().status
    };
    assert_eq!(
        (
            status("the-old-token-of-ours"),
            status("the-new-token-of-ours")
        ),
        (200, 401)
    );
    std::fs::write(&file, "the-new-token-of-ours\nthe-old-token-of-ours\n").unwrap();
    sidecar.process.signal(libc::SIGHUP);
    eventually("both are valid", || status("the-new-token-of-ours") == 200);
    assert_eq!(status("the-old-token-of-ours"), 200);
    std::fs::write(&file, "the-new-token-of-ours\n").unwrap();
    sidecar.process.signal(libc::SIGHUP);
    eventually("the old one is not", || {
        status("the-old-token-of-ours") == 401
    });
    assert!(!sidecar.process.output().contains("token-of-ours"));
}

#[test]
fn sigterm_says_so_on_readyz_waits_finishes_and_exits_0() {
    let mut sidecar = Sidecar::embedded(&["--drain-delay", "1s"]);
    sidecar.wait_until_ready();
    let mut connection = Connection::open(&sidecar.host).unwrap();
    assert_eq!(connection.get("/users/1").unwrap().status, 200);
    sidecar.process.signal(libc::SIGTERM);
    eventually("readyz answers 503", || {
        connection.get("/readyz").unwrap().status == 503
    });
    assert_eq!(connection.get("/users/1").unwrap().text(), ARTHUR);
    assert_eq!(sidecar.process.wait(SOON).unwrap().code(), Some(0));
    assert!(Connection::open(&sidecar.host).is_err());
}

#[test]
fn at_the_end_clients_are_turned_away_then_answered_then_the_store_is_let_go() {
    let Some(mongo) = own_store("drain") else {
        return;
    };
    let proxy = Proxy::to(mongo.port());
    let mut sidecar = Sidecar::mongodb(&proxy.connection_string(), &["--deadline", "15s"]);
    sidecar.wait_until_ready();
    let mut connection = Connection::open(&sidecar.host).unwrap();
    assert_eq!(connection.get("/users/1").unwrap().status, 200);
    proxy.set(Fault::Hold);
    let read = proxy.finds();
    connection
        .send(b"GET /users/1 HTTP/1.1\r\nhost: x\r\n\r\n")
        .unwrap();
    eventually("the request is at the store", || proxy.finds() > read);
    sidecar.process.signal(libc::SIGTERM);
    eventually("no client is let in", || {
        Connection::open(&sidecar.host).is_err()
    });
    assert!(proxy.open() > 0, "the store was let go too early");
    proxy.set(Fault::None);
    assert_eq!(connection.receive(true).unwrap().text(), ARTHUR);
    assert!(connection.is_closed());
    assert_eq!(sidecar.process.wait(SOON).unwrap().code(), Some(0));
    eventually("the store is let go", || proxy.open() == 0);
}

#[test]
fn the_grace_ends() {
    let mut sidecar = Sidecar::embedded(&["--grace", "300ms"]);
    let mut connection = Connection::open(&sidecar.host).unwrap();
    connection.send(b"GET /users/1 HTTP/1.1\r\n").unwrap();
    std::thread::sleep(Duration::from_millis(100));
    let begun = Instant::now();
    sidecar.process.signal(libc::SIGTERM);
    assert_eq!(sidecar.process.wait(SOON).unwrap().code(), Some(0));
    assert!(
        begun.elapsed() < Duration::from_secs(8),
        "{:?}",
        begun.elapsed()
    );
}

#[test]
fn it_uses_little_memory_at_rest() {
    let Some(mongo) = store("memory at rest", None) else {
        return;
    };
    let sidecar = Sidecar::start(binary().env("CONNECTION_STRING", mongo.connection_string()));
    sidecar.wait_until_ready();
    for _ in 0..50 {
        assert_eq!(sidecar.says("/users/1").1, ARTHUR);
    }
    let status =
        std::fs::read_to_string(format!("/proc/{}/status", sidecar.process.pid())).unwrap();
    let rss = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .unwrap();
    let kilobytes: u64 = rss.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(kilobytes < 15 * 1024, "{kilobytes} kB");
}
