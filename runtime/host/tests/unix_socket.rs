//! `--listen unix:PATH`.

mod common;

use std::io::Write;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;

use common::{SOON, STARTED, command, guest, read_answer, text};
use testbed::{Process, Ready};

fn start(socket: &Path) -> Process {
    let listen = format!("unix:{}", socket.display());
    let hello = guest("hello");
    let mut command = command(&["up", "-L", "", "--listen", &listen, "--from", text(&hello)]);
    Process::start(
        &mut command,
        Ready::Output("Available Routes:".into()),
        STARTED,
    )
    .expect("the host starts")
}

fn get(socket: &Path) -> common::Answer {
    let mut stream = UnixStream::connect(socket).expect("the host accepts");
    stream.set_read_timeout(Some(SOON)).unwrap();
    stream
        .write_all(b"GET /a HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n")
        .unwrap();
    read_answer(&mut stream)
}

#[test]
fn a_unix_socket_serves_replaces_what_a_crash_left_and_goes_with_the_host() {
    let directory = tempfile::tempdir().unwrap();
    let socket = directory.path().join("host.sock");
    let mut crashed = start(&socket);
    let said = crashed.output();
    assert!(
        said.contains(&format!("Serving unix:{}", socket.display())),
        "{said}"
    );
    let answer = get(&socket);
    assert_eq!(answer.status, 200, "{answer:?}");
    for line in [
        "header spin-client-addr: 0.0.0.0:0\n",
        "header spin-full-url: http://test/a\n",
    ] {
        assert!(answer.body.contains(line), "{line} in {}", answer.body);
    }
    crashed.kill();
    assert!(socket.exists(), "nobody could remove it");
    let mut again = start(&socket);
    for _ in 0..20 {
        assert_eq!(get(&socket).status, 200);
    }
    assert!(again.stop().success());
    assert!(!socket.exists());
}

#[test]
fn a_socket_that_cannot_be_made_is_named_with_the_way_out() {
    let directory = tempfile::tempdir().unwrap();
    let listen = |path: &Path| format!("unix:{}", path.display());
    let hello = guest("hello");
    let said = |path: &Path| {
        let listen = listen(path);
        let output = command(&["up", "-L", "", "--from", text(&hello), "--listen", &listen])
            .output()
            .unwrap();
        assert!(!output.status.success());
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(said.lines().count(), 1, "{said}");
        assert!(said.contains(&listen), "{said}");
        said
    };
    let file = directory.path().join("file");
    std::fs::write(&file, "precious").unwrap();
    assert!(said(&file).contains("no socket and is left alone"));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "precious");
    let taken = directory.path().join("taken");
    let _listener = UnixListener::bind(&taken).unwrap();
    assert!(said(&taken).contains("another program listens on it"));
    assert!(said(Path::new("/nowhere/host.sock")).contains("No such file"));
    assert!(said(&directory.path().join("x".repeat(200))).contains("SUN_LEN"));
}
