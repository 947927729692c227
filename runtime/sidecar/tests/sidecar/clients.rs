//! Clients that are slow, rude or merely old get an answer or an end, and harm nobody else.

use std::net::Shutdown;
use std::time::Duration;

use crate::harness::{ARTHUR, Connection, Sidecar, UNAVAILABLE, eventually, own_store};
use crate::proxy::{Fault, Proxy};

fn connected(args: &[&str]) -> (Sidecar, Connection) {
    let sidecar = Sidecar::embedded(args);
    let connection = Connection::open(&sidecar.host).unwrap();
    (sidecar, connection)
}

#[test]
fn head_has_the_headers_of_get_and_leaves_the_connection_usable() {
    let (_sidecar, mut connection) = connected(&[]);
    connection
        .send(b"HEAD /users/1 HTTP/1.1\r\nhost: x\r\n\r\n")
        .unwrap();
    let head = connection.receive(false).unwrap();
    let get = connection.get("/users/1").unwrap();
    assert_eq!(get.text(), ARTHUR);
    for name in ["content-type", "content-length"] {
        assert_eq!(head.header(name), get.header(name));
    }
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let (_sidecar, mut connection) = connected(&[]);
    let paths = ["/users/1", "/users/abc", "/users/0", "/users/2"];
    let requests = paths.map(|path| format!("GET {path} HTTP/1.1\r\nhost: x\r\n\r\n"));
    connection.send(requests.concat().as_bytes()).unwrap();
    let statuses = paths.map(|_| connection.receive(true).unwrap().status);
    assert_eq!(statuses, [200, 400, 404, 200]);
}

#[test]
fn http_1_0_is_answered_and_closed() {
    let (_sidecar, mut connection) = connected(&[]);
    connection.send(b"GET /users/1 HTTP/1.0\r\n\r\n").unwrap();
    assert_eq!(connection.receive(true).unwrap().text(), ARTHUR);
    assert!(connection.is_closed());
}

#[test]
fn who_closes_its_side_still_gets_its_answer() {
    let (_sidecar, mut connection) = connected(&[]);
    connection
        .send(b"GET /users/1 HTTP/1.1\r\nhost: x\r\n\r\n")
        .unwrap();
    connection.stream().shutdown(Shutdown::Write).unwrap();
    assert_eq!(connection.receive(true).unwrap().text(), ARTHUR);
    assert!(connection.is_closed());
}

#[test]
fn what_is_too_large_is_refused() {
    let (sidecar, _) = connected(&[]);
    let long = "x".repeat(20_000);
    let many = "a: b\r\n".repeat(100);
    for (request, statuses) in [
        (
            format!("GET /{long} HTTP/1.1\r\nhost: x\r\n\r\n"),
            [414, 431],
        ),
        (
            format!("GET /users/1 HTTP/1.1\r\nhost: x\r\nx: {long}\r\n\r\n"),
            [431, 431],
        ),
        (
            format!("GET /users/1 HTTP/1.1\r\nhost: x\r\n{many}\r\n"),
            [431, 431],
        ),
        (
            "GET /users/1 HTTP/1.1\r\nhost: x\r\ncontent-length: 70000\r\n\r\n".into(),
            [413, 413],
        ),
        (
            "POST /users/1 HTTP/1.1\r\nhost: x\r\ncontent-length: 99999999999\r\n\r\n".into(),
            [413, 413],
        ),
    ] {
        let mut connection = Connection::open(&sidecar.host).unwrap();
        connection.send(request.as_bytes()).unwrap();
        let status = connection.receive(true).unwrap().status;
        assert!(statuses.contains(&status), "{status} for {:.60}", request);
        assert!(connection.is_closed());
    }
    assert_eq!(sidecar.says("/users/1").1, ARTHUR);
}

#[test]
fn a_body_without_a_length_is_not_read_to_its_end() {
    let (sidecar, mut connection) = connected(&[]);
    let head = b"POST /users/1 HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n";
    connection.send(head).unwrap();
    let chunk = [&b"10000\r\n"[..], &[b'x'; 0x10000], b"\r\n"].concat();
    let stream = connection.stream();
    stream
        .set_write_timeout(Some(Duration::from_millis(500)))
        .unwrap();
    // Far more than the sockets hold: at some point it is not taken any more.
    let refused = (0..1000).any(|_| connection.send(&chunk).is_err());
    assert!(refused, "65 MB were taken");
    assert_eq!(sidecar.says("/users/1").1, ARTHUR);
}

#[test]
fn a_small_body_is_not_minded() {
    let (_sidecar, mut connection) = connected(&[]);
    connection
        .send(b"GET /users/1 HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}")
        .unwrap();
    assert_eq!(connection.receive(true).unwrap().text(), ARTHUR);
}

#[test]
fn another_method_is_refused_with_those_that_are_not() {
    let (_sidecar, mut connection) = connected(&[]);
    connection
        .send(b"DELETE /users/1 HTTP/1.1\r\nhost: x\r\n\r\n")
        .unwrap();
    let answer = connection.receive(true).unwrap();
    assert_eq!(
        (answer.status, answer.header("allow")),
        (405, Some("GET, HEAD"))
    );
}

#[test]
fn a_connection_too_many_is_told_so_and_makes_room_when_it_goes() {
    let (sidecar, first) = connected(&["--max-connections", "1"]);
    let mut first = first;
    assert_eq!(first.get("/users/1").unwrap().status, 200);
    let mut second = Connection::open(&sidecar.host).unwrap();
    assert_eq!(second.receive(true).unwrap().status, 503);
    assert!(second.is_closed());
    drop(first);
    eventually("there is room again", || {
        let answer = Connection::open(&sidecar.host).and_then(|mut it| it.get("/users/1"));
        answer.is_ok_and(|answer| answer.status == 200)
    });
}

#[test]
fn a_request_too_many_is_503_at_once() {
    let Some(mongo) = own_store("requests past the bound") else {
        return;
    };
    let proxy = Proxy::to(mongo.port());
    let args = ["--max-in-flight", "2", "--deadline", "15s"];
    let sidecar = Sidecar::mongodb(&proxy.connection_string(), &args);
    sidecar.wait_until_ready();
    let delay = Duration::from_secs(1);
    proxy.set(Fault::Delay(delay));
    let mut waiting: Vec<_> = (0..2)
        .map(|_| Connection::open(&sidecar.host).unwrap())
        .collect();
    for connection in &mut waiting {
        connection
            .send(b"GET /users/1 HTTP/1.1\r\nhost: x\r\n\r\n")
            .unwrap();
    }
    let mut one_more = Connection::open(&sidecar.host).unwrap();
    eventually("both wait", || sidecar.metric("sidecar_in_flight") == 2);
    let begun = std::time::Instant::now();
    let answer = one_more.get("/users/1").unwrap();
    let took = begun.elapsed();
    assert_eq!(
        (answer.status, answer.text(), answer.header("retry-after")),
        (503, UNAVAILABLE.to_owned(), Some("1"))
    );
    assert!(took < delay, "{took:?}");
    for connection in &mut waiting {
        assert_eq!(connection.receive(true).unwrap().text(), ARTHUR);
    }
    assert_eq!(one_more.get("/users/1").unwrap().text(), ARTHUR);
}

#[test]
fn a_reader_that_stops_does_not_stop_the_others() {
    let (sidecar, mut slow) = connected(&[]);
    let request = b"GET /users/1 HTTP/1.1\r\nhost: x\r\n\r\n".repeat(1000);
    // Far more answers than the sockets hold: at some point neither side can write.
    slow.stream()
        .set_write_timeout(Some(Duration::from_millis(200)))
        .unwrap();
    for _ in 0..100 {
        if slow.send(&request).is_err() {
            break;
        }
    }
    for _ in 0..20 {
        assert_eq!(sidecar.says("/users/1").1, ARTHUR);
    }
}

#[test]
fn half_a_head_is_cut_off_after_its_time() {
    let (_sidecar, mut connection) = connected(&[]);
    let begun = std::time::Instant::now();
    connection.send(b"GET /users/1 HTTP/1.1\r\nhost:").unwrap();
    connection
        .stream()
        .set_read_timeout(Some(Duration::from_secs(30)))
        .unwrap();
    assert!(connection.is_closed());
    assert!(
        begun.elapsed() < Duration::from_secs(25),
        "{:?}",
        begun.elapsed()
    );
}
