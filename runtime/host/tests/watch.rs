//! `watch`: a change is built and served without a request that is refused or dropped.

mod common;

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Instant;

use common::SOON;
use testbed::{Process, Ready};

/// A manifest whose one route answers with `body`; its build copies a file.
fn manifest(body: &str) -> String {
    format!(
        "spin_manifest_version = 2\n[application]\nname = \"watched\"\n\
         [[trigger.http]]\nroute = \"/...\"\nstatic_response = {{ body = \"{body}\" }}\n"
    )
}

fn get(address: SocketAddr) -> String {
    let mut stream = TcpStream::connect(address).expect("the host accepts");
    stream.set_read_timeout(Some(SOON)).expect("a time");
    stream
        .write_all(b"GET / HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n")
        .expect("written");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    let (_, body) = answer
        .split_once("\r\n\r\n")
        .expect("an answer with a head");
    body.to_owned()
}

/// The host, watching the manifest in `directory`.
fn watch(directory: &tempfile::TempDir) -> (Process, SocketAddr) {
    let from = directory.path().to_str().expect("UTF-8");
    let mut command = common::command(&[
        "watch",
        "--listen",
        "127.0.0.1:0",
        "--log-dir",
        "",
        "--from",
        from,
    ]);
    let ready = Ready::Output("Available Routes:".into());
    let process = Process::start(&mut command, ready, SOON).expect("the host starts");
    let output = process.output();
    let address = output
        .split("Serving http://")
        .nth(1)
        .and_then(|rest| rest.split_whitespace().next());
    let address = address
        .expect("the host says where it serves")
        .parse()
        .expect("an address");
    (process, address)
}

#[test]
fn a_changed_manifest_is_served_without_a_request_lost() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("spin.toml"), manifest("old")).unwrap();
    let (mut process, address) = watch(&directory);
    assert_eq!(get(address), "old");
    fs::write(directory.path().join("spin.toml"), manifest("the new one")).unwrap();
    // Each of these is a connection of its own: `get` panics at the first that is refused or cut.
    let started = Instant::now();
    while get(address) != "the new one" {
        assert!(started.elapsed() < SOON, "the change is not served");
    }
    // The old app may answer a few more while it drains; after a hundred in a row it is gone.
    let mut in_a_row = 0;
    while in_a_row < 100 {
        in_a_row = if get(address) == "the new one" {
            in_a_row + 1
        } else {
            0
        };
        assert!(started.elapsed() < SOON, "the old app goes on");
    }
    process.signal(15);
    assert!(process.wait(SOON).expect("the host ends").success());
}

#[test]
fn a_broken_manifest_leaves_the_old_app_serving_until_it_is_mended() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("spin.toml"), manifest("old")).unwrap();
    let (process, address) = watch(&directory);
    fs::write(directory.path().join("spin.toml"), "nonsense").unwrap();
    assert!(process.wait_for_output("waiting for a change", SOON));
    assert_eq!(get(address), "old");
    fs::write(directory.path().join("spin.toml"), manifest("mended")).unwrap();
    let started = Instant::now();
    while get(address) != "mended" {
        assert!(started.elapsed() < SOON, "the mended app is not served");
    }
}
