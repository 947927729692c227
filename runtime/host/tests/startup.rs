//! Starting and stopping: every bad input is one line that names the thing, and a stop loses no request.

mod common;

use std::io::Write;
use std::net::TcpListener;
use std::thread;
use std::time::Duration;

use common::{Host, command, failure, guest, read_answer};

#[test]
fn a_file_that_is_no_component_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("not.wasm");
    std::fs::write(&file, "hello").unwrap();
    let text = failure(&["--from", file.to_str().unwrap()]);
    assert!(text.contains("not.wasm is not a wasm component"), "{text}");
}

#[test]
fn a_component_without_a_handler_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("empty.wat");
    std::fs::write(&file, "(component)").unwrap();
    let text = failure(&["--from", file.to_str().unwrap()]);
    assert!(text.contains("no HTTP handler"), "{text}");
}

#[test]
fn an_import_that_is_not_provided_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("wants.wat");
    std::fs::write(
        &file,
        r#"(component (import "fermyon:spin/key-value@2.0.0" (instance)))"#,
    )
    .unwrap();
    let text = failure(&["--from", file.to_str().unwrap()]);
    assert!(
        text.contains("`wants`") && text.contains("fermyon:spin/key-value@2.0.0"),
        "{text}"
    );
}

#[test]
fn a_missing_file_is_named() {
    let text = failure(&["--from", "/nowhere/app.wasm"]);
    assert!(text.contains("/nowhere/app.wasm"), "{text}");
}

#[test]
fn a_taken_port_is_named_with_the_way_out() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let hello = guest("hello");
    let output = command(&[
        "up",
        "--from",
        hello.to_str().unwrap(),
        "--listen",
        &address,
    ])
    .output()
    .unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(
        text.contains(&address) && text.contains("--listen"),
        "{text}"
    );
}

#[test]
fn an_unknown_flag_is_an_error() {
    let output = command(&["up", "--no-such-flag"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--no-such-flag"));
}

#[test]
fn a_manifest_key_that_is_not_known_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("spin.toml");
    std::fs::write(
        &file,
        "spin_manifest_version = 2\n[application]\nname = \"a\"\n[component.a]\nsource = \"a.wasm\"\nsauce = 1\n",
    )
    .unwrap();
    let text = failure(&["--from", file.to_str().unwrap()]);
    assert!(text.contains("sauce"), "{text}");
}

#[test]
fn a_stop_lets_requests_in_flight_finish_and_ends_well() {
    let mut host = Host::with_guest("slow", &["--workers", "2"]);
    host.assert_well();
    let mut stream = host.connect();
    stream
        .write_all(b"GET /800 HTTP/1.1\r\nhost: test\r\n\r\n")
        .unwrap();
    thread::sleep(Duration::from_millis(200));
    host.terminate();
    let answer = read_answer(&mut stream);
    assert_eq!((answer.status, answer.body.as_str()), (200, "ok"));
    assert!(host.wait().success());
}

#[test]
fn a_stop_does_not_wait_longer_than_its_grace() {
    let mut host = Host::with_guest("slow", &["--drain-grace", "0.5"]);
    let mut stream = host.connect();
    stream
        .write_all(b"GET /60000 HTTP/1.1\r\nhost: test\r\n\r\n")
        .unwrap();
    thread::sleep(Duration::from_millis(200));
    host.terminate();
    assert!(host.wait().success());
}

#[test]
fn readiness_ends_before_serving_does() {
    let mut host = Host::with_guest("slow", &["--drain-delay", "1.5"]);
    assert_eq!(host.get("/.well-known/spin/ready").status, 200);
    host.terminate();
    thread::sleep(Duration::from_millis(500));
    assert_eq!(host.get("/.well-known/spin/ready").status, 503);
    assert_eq!(host.get("/.well-known/spin/health").status, 200);
    host.assert_well();
    assert!(host.wait().success());
}
