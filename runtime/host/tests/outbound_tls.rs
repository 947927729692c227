//! Outbound HTTPS, against a server whose certificate a private authority signed.

mod common;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::thread;

use common::{Host, guest};
use rcgen::{CertificateParams, CertifiedIssuer, KeyPair};
use tokio_rustls::rustls::pki_types::PrivateKeyDer;
use tokio_rustls::rustls::{ServerConfig, ServerConnection, StreamOwned};

/// An HTTPS server for `name`, and the PEM of the authority that signed it.
fn server(name: &str) -> (SocketAddr, String) {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, key).unwrap();
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new(vec![name.to_owned()])
        .unwrap()
        .signed_by(&key, &authority)
        .unwrap();
    let config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(
            vec![certificate.der().clone()],
            PrivateKeyDer::try_from(key.serialize_der()).unwrap(),
        )
        .unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let connection = ServerConnection::new(config.clone()).unwrap();
            let mut stream = StreamOwned::new(connection, stream.unwrap());
            // A client that does not trust this server ends the handshake.
            if stream.read(&mut [0; 4096]).is_ok() {
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nsecret");
            }
        }
    });
    (address, authority.pem())
}

fn host(directory: &Path, environment: &[(&str, &str)]) -> Host {
    let manifest = directory.join("spin.toml");
    let text = format!(
        "spin_manifest_version = 2\n[application]\nname = \"a\"\n\
         [[trigger.http]]\nroute = \"/...\"\ncomponent = \"fetch\"\n\
         [component.fetch]\nsource = {:?}\nallowed_outbound_hosts = [\"https://localhost:*\"]\n",
        guest("fetch")
    );
    std::fs::write(&manifest, text).unwrap();
    Host::up_with(&["--from", manifest.to_str().unwrap()], environment)
}

fn fetch(host: &Host, port: u16) -> common::Answer {
    host.send(&format!(
        "GET / HTTP/1.1\r\nhost: test\r\nconnection: close\r\nx-url: https://localhost:{port}/\r\n\r\n"
    ))
}

#[test]
fn an_authority_of_ones_own_is_trusted_when_ssl_cert_file_names_it() {
    let directory = tempfile::tempdir().unwrap();
    let (address, authority) = server("localhost");
    let file = directory.path().join("ca.pem");
    std::fs::write(&file, authority).unwrap();
    let host = host(
        directory.path(),
        &[("SSL_CERT_FILE", file.to_str().unwrap())],
    );
    assert_eq!(fetch(&host, address.port()).body, "secret");
    // Trusted, but for another name.
    let (other, _) = server("localhost");
    let untrusted = fetch(&host, other.port());
    assert!(
        untrusted.body.contains("TlsCertificateError"),
        "{untrusted:?}"
    );
}

#[test]
fn an_authority_that_nobody_named_is_not_trusted() {
    let directory = tempfile::tempdir().unwrap();
    let (address, _) = server("localhost");
    let host = host(directory.path(), &[]);
    let answer = fetch(&host, address.port());
    assert!(answer.body.contains("TlsCertificateError"), "{answer:?}");
}

#[test]
fn a_file_without_certificates_is_refused_at_start() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("ca.pem");
    for content in [None, Some("no certificate")] {
        if let Some(content) = content {
            std::fs::write(&file, content).unwrap();
        }
        let output = common::command(&["up", "--listen", "127.0.0.1:0", "-L", "", "--from"])
            .arg(guest("hello"))
            .env("SSL_CERT_FILE", &file)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success());
        assert!(
            text.contains("SSL_CERT_FILE") && text.contains("ca.pem"),
            "{text}"
        );
    }
}
