//! Components whose source is a URL with a digest.

mod common;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use common::{Host, guest, text};

/// A server of one wasm file, and how often it was asked: `/redirect` leads to the file, `/away` to no HTTP at all,
/// `/circle` to itself, `/huge` announces too much, `/short` breaks off.
fn server() -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = asked.clone();
    let wasm = fs::read(guest("hello")).unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            counted.fetch_add(1, Ordering::SeqCst);
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
            let first = lines
                .next()
                .unwrap_or(Ok(String::new()))
                .unwrap_or_default();
            while lines
                .next()
                .is_some_and(|line| line.is_ok_and(|line| !line.is_empty()))
            {}
            let found = |to: &str| {
                format!("HTTP/1.1 302 Found\r\nlocation: {to}\r\ncontent-length: 0\r\n\r\n")
            };
            let (head, body) = match first.split(' ').nth(1).unwrap_or_default() {
                "/a.wasm" => (
                    format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", wasm.len()),
                    &wasm[..],
                ),
                "/redirect" => (found("a.wasm"), &[][..]),
                "/away" => (found("ftp://127.0.0.1/a.wasm"), &[][..]),
                "/circle" => (found("/circle"), &[][..]),
                "/huge" => (
                    "HTTP/1.1 200 OK\r\ncontent-length: 300000000\r\n\r\n".into(),
                    &[][..],
                ),
                "/short" => (
                    "HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n".into(),
                    &b"x"[..],
                ),
                _ => (
                    "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n".into(),
                    &[][..],
                ),
            };
            let _ = stream
                .write_all(head.as_bytes())
                .and_then(|()| stream.write_all(body));
        }
    });
    (address, asked)
}

/// The digest of the guest that the server has, as a manifest writes it.
fn digest() -> String {
    let output = std::process::Command::new("sha256sum")
        .arg(guest("hello"))
        .output()
        .expect("sha256sum is a part of every system");
    let text = String::from_utf8(output.stdout).unwrap();
    format!("sha256:{}", &text[..64])
}

/// The flags for an app whose component is at this URL, with a cache of its own.
fn app<'a>(directory: &'a Path, url: &str, digest: &str) -> [&'a str; 4] {
    fs::write(
        directory.join("spin.toml"),
        format!(
            "spin_manifest_version = 2\n[application]\nname = \"a\"\n\
             [[trigger.http]]\nroute = \"/...\"\ncomponent = \"a\"\n\
             [component.a]\nsource = {{ url = \"{url}\", digest = \"{digest}\" }}\n"
        ),
    )
    .unwrap();
    ["--from", text(directory), "--cache-dir", text(directory)]
}

#[test]
fn a_component_is_downloaded_once_verified_and_then_started_offline() {
    let (address, asked) = server();
    let directory = tempfile::tempdir().unwrap();
    let flags = app(
        directory.path(),
        &format!("http://{address}/redirect"),
        &digest(),
    );
    let host = Host::up(&flags);
    assert_eq!(host.get("/").status, 200);
    assert_eq!(asked.load(Ordering::SeqCst), 2, "the redirect and the file");
    drop(host);
    let host = Host::up(&flags);
    assert_eq!(host.get("/").status, 200);
    assert_eq!(asked.load(Ordering::SeqCst), 2, "the cache has it");
}

#[test]
fn a_component_of_another_digest_is_refused_and_not_kept() {
    let (address, _) = server();
    let directory = tempfile::tempdir().unwrap();
    let wanted = format!("sha256:{}", "0".repeat(64));
    let said = download_failure(
        directory.path(),
        &format!("http://{address}/a.wasm"),
        &wanted,
    );
    assert!(
        said.contains(&format!("the manifest wants {wanted}")),
        "{said}"
    );
    assert!(!directory.path().join("wasm").exists());
}

#[test]
fn what_cannot_be_downloaded_is_told_with_its_url() {
    let (address, _) = server();
    let directory = tempfile::tempdir().unwrap();
    let dead = testbed::free_port();
    for (url, reason) in [
        (format!("http://{address}/none"), "answered 404"),
        (
            format!("http://{address}/huge"),
            "it has more than 268435456 bytes",
        ),
        (format!("http://{address}/short"), "it broke off"),
        (
            format!("http://{address}/circle"),
            "redirects more than 5 times",
        ),
        (
            format!("http://{address}/away"),
            "ftp is neither http nor https",
        ),
        (
            format!("http://127.0.0.1:{dead}/a.wasm"),
            "Connection refused",
        ),
        ("nonsense".to_owned(), "it is no URL"),
    ] {
        let said = download_failure(directory.path(), &url, &digest());
        assert!(said.contains(&format!("cannot get {url}")), "{said}");
        assert!(said.contains(reason), "{url}: {said}");
    }
}

/// The error, after the line that says what is downloaded.
fn download_failure(directory: &Path, url: &str, digest: &str) -> String {
    let output = common::up(&app(directory, url, digest)).output().unwrap();
    assert!(!output.status.success());
    let said = String::from_utf8(output.stderr).unwrap();
    let error = said.lines().last().unwrap_or_default();
    assert!(error.starts_with("error: "), "{said}");
    error.to_owned()
}

#[test]
fn https_is_spoken_for_a_download() {
    // A server that is not trusted: the handshake takes place and is refused for its certificate.
    let directory = tempfile::tempdir().unwrap();
    let key = rcgen::KeyPair::generate().unwrap();
    let params = rcgen::CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
    let (cert, pem) = (
        directory.path().join("c.pem"),
        directory.path().join("k.pem"),
    );
    fs::write(&cert, params.self_signed(&key).unwrap().pem()).unwrap();
    fs::write(&pem, key.serialize_pem()).unwrap();
    let host = Host::with_guest(
        "hello",
        &["--tls-cert", text(&cert), "--tls-key", text(&pem)],
    );
    let said = download_failure(
        directory.path(),
        &format!("https://{}/a.wasm", host.address),
        &digest(),
    );
    assert!(said.contains("TLS: invalid peer certificate"), "{said}");
}
