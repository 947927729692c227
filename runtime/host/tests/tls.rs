//! HTTPS: what a client sees, HTTP/2 by ALPN, and a certificate that changes while the host runs.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use common::{Host, SOON, failure, guest, text};
use http_body_util::{BodyExt, Empty};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rcgen::{CertificateParams, KeyPair};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore, crypto::ring};

/// A certificate of its own authority, and its key, as PEM files.
struct Pair {
    certificate: PathBuf,
    key: PathBuf,
}

impl Pair {
    fn new(directory: &Path, name: &str) -> Self {
        let pair = Pair {
            certificate: directory.join(format!("{name}.pem")),
            key: directory.join(format!("{name}.key")),
        };
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        let certificate = params.self_signed(&key).unwrap();
        fs::write(&pair.certificate, certificate.pem()).unwrap();
        fs::write(&pair.key, key.serialize_pem()).unwrap();
        pair
    }

    fn flags(&self) -> [&str; 4] {
        let (certificate, key) = (text(&self.certificate), text(&self.key));
        ["--tls-cert", certificate, "--tls-key", key]
    }

    fn replace(&self, by: &Pair) {
        fs::copy(&by.certificate, &self.certificate).unwrap();
        fs::copy(&by.key, &self.key).unwrap();
    }
}

/// Shakes hands with the host, trusting this certificate alone.
async fn connect(host: &Host, trusted: &Pair, alpn: &str) -> std::io::Result<TlsStream<TcpStream>> {
    let mut roots = RootCertStore::empty();
    let certificate = CertificateDer::from_pem_file(&trusted.certificate).unwrap();
    roots.add(certificate).unwrap();
    let mut config = ClientConfig::builder_with_provider(ring::default_provider().into())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![alpn.as_bytes().to_vec()];
    let stream = TcpStream::connect(host.address).await?;
    let name = ServerName::try_from("localhost").unwrap();
    tokio_rustls::TlsConnector::from(Arc::new(config))
        .connect(name, stream)
        .await
}

/// One GET on this connection, in the version that it agreed on.
async fn get(stream: TlsStream<TcpStream>) -> String {
    let is_h2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
    let io = TokioIo::new(stream);
    let request = |uri: &str| {
        let request = http::Request::get(uri).header("host", "localhost");
        request.body(Empty::<bytes::Bytes>::new()).unwrap()
    };
    let response = if is_h2 {
        let (mut sender, connection) =
            hyper::client::conn::http2::handshake(TokioExecutor::new(), io)
                .await
                .unwrap();
        tokio::spawn(connection);
        sender.send_request(request("https://localhost/a")).await
    } else {
        let (mut sender, connection) = hyper::client::conn::http1::handshake(io).await.unwrap();
        tokio::spawn(connection);
        sender.send_request(request("/a")).await
    };
    let body = response.unwrap().into_body().collect().await.unwrap();
    String::from_utf8(body.to_bytes().to_vec()).unwrap()
}

fn run<T>(test: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let bounded = async { tokio::time::timeout(SOON * 2, test).await };
    runtime.block_on(bounded).expect("in time")
}

#[test]
fn https_is_spoken_in_both_versions_and_said_to_the_component() {
    let directory = tempfile::tempdir().unwrap();
    let pair = Pair::new(directory.path(), "host");
    let host = Host::with_guest("hello", &pair.flags());
    assert!(host.output().contains("Serving https://127.0.0.1:"));
    run(async {
        for version in ["http/1.1", "h2"] {
            let stream = connect(&host, &pair, version).await.unwrap();
            let agreed = stream.get_ref().1.alpn_protocol().map(<[u8]>::to_vec);
            assert_eq!(agreed.as_deref(), Some(version.as_bytes()));
            let seen = get(stream).await;
            assert!(
                seen.contains("header spin-full-url: https://localhost/a\n"),
                "{version}: {seen}"
            );
        }
    });
    // Plain HTTP on the same port is no request.
    assert_eq!(host.get("/").status, 0);
}

#[test]
fn a_changed_certificate_is_served_without_dropping_a_connection_and_a_bad_one_is_not() {
    let directory = tempfile::tempdir().unwrap();
    let pair = Pair::new(directory.path(), "host");
    let old = Pair::new(directory.path(), "old");
    pair.replace(&old);
    let host = Host::with_guest("slow", &pair.flags());
    run(async {
        let open = connect(&host, &old, "http/1.1").await.unwrap();
        fs::write(&pair.certificate, "nonsense").unwrap();
        assert!(host.wait_for_output("the certificate before it stays in use"));
        connect(&host, &old, "h2")
            .await
            .expect("the old one is served");
        let new = Pair::new(directory.path(), "new");
        pair.replace(&new);
        let started = Instant::now();
        while connect(&host, &new, "h2").await.is_err() {
            assert!(started.elapsed() < SOON, "the new one is not served");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        assert!(connect(&host, &old, "h2").await.is_err());
        assert_eq!(
            get(open).await,
            "ok",
            "a connection outlives its certificate"
        );
    });
}

#[test]
fn a_component_calls_its_own_app_although_it_is_served_over_tls() {
    let directory = tempfile::tempdir().unwrap();
    let pair = Pair::new(directory.path(), "host");
    let manifest = directory.path().join("spin.toml");
    fs::write(
        &manifest,
        format!(
            "spin_manifest_version = 2\n[application]\nname = \"a\"\n\
             [[trigger.http]]\nroute = \"/a\"\ncomponent = \"fetch\"\n\
             [[trigger.http]]\nroute = \"/fixed\"\nstatic_response = {{ body = \"tea\" }}\n\
             [component.fetch]\nsource = {:?}\nallowed_outbound_hosts = [\"http://self\"]\n",
            guest("fetch")
        ),
    )
    .unwrap();
    let host = Host::up(&[&["--from", text(&manifest)], &pair.flags()[..]].concat());
    run(async {
        let stream = connect(&host, &pair, "http/1.1").await.unwrap();
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
            .await
            .unwrap();
        tokio::spawn(connection);
        let request = http::Request::get("/a")
            .header("host", "localhost")
            .header("x-url", "http://self.alt/fixed")
            .body(Empty::<bytes::Bytes>::new())
            .unwrap();
        let body = sender.send_request(request).await.unwrap().into_body();
        assert_eq!(body.collect().await.unwrap().to_bytes(), "tea");
    });
}

#[test]
fn a_certificate_and_its_key_are_needed_both_and_must_fit() {
    let directory = tempfile::tempdir().unwrap();
    let (one, other) = (
        Pair::new(directory.path(), "one"),
        Pair::new(directory.path(), "other"),
    );
    let hello = guest("hello");
    let (certificate, key) = (text(&one.certificate), text(&other.key));
    let flags = ["--from", text(&hello), "--tls-cert", certificate];
    let said = failure(&[&flags[..], &["--tls-key", key]].concat());
    assert!(
        said.contains("one.pem") && said.contains("do not make a pair"),
        "{said}"
    );
    let said = failure(&[&flags[..], &["--tls-key", "/nowhere.key"]].concat());
    assert!(said.contains("/nowhere.key"), "{said}");
    let output = common::up(&flags).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        String::from_utf8(output.stderr)
            .unwrap()
            .contains("--tls-key")
    );
}
