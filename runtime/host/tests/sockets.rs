//! Sockets of guests: outbound alone, and only where the manifest lets them.

mod common;

use std::io::{Read, Write};
use std::net::{TcpListener, UdpSocket};
use std::thread;

use common::{Host, guest};

fn host(allowed: &str) -> (tempfile::TempDir, Host) {
    let directory = tempfile::tempdir().unwrap();
    let manifest = directory.path().join("spin.toml");
    let text = format!(
        "spin_manifest_version = 2\n[application]\nname = \"a\"\n\
         [[trigger.http]]\nroute = \"/...\"\ncomponent = \"sockets\"\n\
         [component.sockets]\nsource = {:?}\nallowed_outbound_hosts = [{allowed}]\n",
        guest("sockets")
    );
    std::fs::write(&manifest, text).unwrap();
    let host = Host::up(&["--from", manifest.to_str().unwrap()]);
    (directory, host)
}

#[test]
fn tcp_reaches_what_is_allowed_and_nothing_else() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut bytes = [0; 4];
            stream.read_exact(&mut bytes).unwrap();
            stream.write_all(&bytes).unwrap();
        }
    });
    let (_directory, host) = host(&format!("\"tcp://{address}\""));
    assert_eq!(host.get(&format!("/tcp?{address}")).body, "ping");
    let other = testbed::free_port();
    assert_eq!(
        host.get(&format!("/tcp?127.0.0.1:{other}")).body,
        "PermissionDenied"
    );
    assert!(host.wait_for_output(&format!(
        "allowed_outbound_hosts = [\"tcp://127.0.0.1:{other}\"]"
    )));
    // The scheme counts: what is allowed for TCP is not for UDP.
    assert_eq!(
        host.get(&format!("/udp?{address}")).body,
        "PermissionDenied"
    );
}

#[test]
fn udp_reaches_what_is_allowed_and_nothing_else() {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap();
    thread::spawn(move || {
        let mut bytes = [0; 4];
        while let Ok((_, from)) = socket.recv_from(&mut bytes) {
            socket.send_to(&bytes, from).unwrap();
        }
    });
    let (_directory, host) = host(&format!("\"udp://{address}\""));
    assert_eq!(host.get(&format!("/udp?{address}")).body, "ping");
    let other = testbed::free_port();
    assert_eq!(
        host.get(&format!("/udp?127.0.0.1:{other}")).body,
        "PermissionDenied"
    );
}

#[test]
fn listening_is_denied_whatever_is_allowed() {
    let (_directory, host) = host("\"*://*:*\"");
    for address in ["127.0.0.1:0", "0.0.0.0:0", "127.0.0.1:8080"] {
        let answer = host.get(&format!("/listen?{address}"));
        assert_eq!(answer.body, "PermissionDenied", "{address}");
    }
}

#[test]
fn names_are_not_resolved() {
    let (_directory, host) = host("\"*://*:*\"");
    let answer = host.get("/name?localhost:80");
    assert_eq!(answer.status, 200);
    assert!(!answer.body.ends_with("found"), "{answer:?}");
}
