//! Tokens, TLS both ways, Unix sockets; and a server that wants TLS and a login.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::process::Command;

use bson::doc;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use testbed::mongo::{Kind, Mongo};
use testbed::{Missing, Process, Ready, built, free_port, not_run, repo_root};

use crate::harness::{ARTHUR, Connection, SOON, Sidecar, UNAVAILABLE, binary, eventually, present};

const TOKEN: &str = "0123456789abcdef";
const REQUEST: &[u8] = b"GET /users/1 HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";

#[test]
fn without_its_token_a_request_is_a_bare_401_and_probes_need_none() {
    let sidecar = Sidecar::start(binary().env("SIDECAR_TOKEN", TOKEN));
    let mut connection = Connection::open(&sidecar.host).unwrap();
    for path in ["/users/1", "/users/abc", "/nowhere", "/metrics"] {
        let answer = connection.get(path).unwrap();
        assert_eq!(
            (answer.status, answer.text()),
            (401, String::new()),
            "{path}"
        );
    }
    let head = format!("GET /users/1 HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {TOKEN}\r\n\r\n");
    connection.send(head.as_bytes()).unwrap();
    assert_eq!(connection.receive(true).unwrap().text(), ARTHUR);
    assert_eq!(connection.get("/healthz").unwrap().status, 200);
    assert_eq!(connection.get("/readyz").unwrap().status, 200);
    assert!(!sidecar.process.output().contains(TOKEN));
}

/// `levelfield-host` with the component in it, which asks a sidecar and shows a token.
fn component(sidecar: &Sidecar, token: &str) -> Result<(Process, String), Missing> {
    let host = built("levelfield-host")?;
    let wasm = repo_root().join("target/wasm32-wasip2/release/levelfield.wasm");
    if !wasm.is_file() {
        return Err(Missing {
            what: wasm.display().to_string(),
            remedy: "run scripts/build".into(),
        });
    }
    let address = format!("127.0.0.1:{}", free_port());
    let sidecar = format!("http://{}", sidecar.host);
    let mut command = Command::new(host);
    command
        .current_dir(repo_root())
        .args(["up", "--quiet", "--from", "spin.toml", "--listen", &address])
        .args(["--variable", &format!("sidecar_url={sidecar}")])
        .args(["--env", &format!("SIDECAR_URL={sidecar}")])
        .args(["--env", &format!("SIDECAR_TOKEN={token}")]);
    let ready = Ready::Http(format!("http://{address}/helloWorld"));
    let process = Process::start(&mut command, ready, SOON).unwrap();
    Ok((process, address))
}

#[test]
fn the_component_shows_the_token_of_its_environment() {
    let sidecar = Sidecar::start(binary().env("SIDECAR_TOKEN", TOKEN));
    for (token, expected) in [
        (TOKEN, (200, ARTHUR)),
        ("another-token-of-ours", (503, UNAVAILABLE)),
    ] {
        let (_process, address) = match component(&sidecar, token) {
            Ok(started) => started,
            Err(missing) => return not_run("sidecar: the component's token", &missing),
        };
        let answer = Connection::open(&address).unwrap().get("/users/1").unwrap();
        assert_eq!((answer.status, &*answer.text()), expected);
    }
}

#[test]
fn a_unix_socket_serves_replaces_what_a_crash_left_and_goes_with_the_process() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sidecar.sock");
    let start = || {
        let listen = format!("unix:{}", path.display());
        let ready = Ready::Output(", ".to_owned());
        Process::start(binary().args(["--listen", &listen]), ready, SOON).unwrap()
    };
    let ask = || {
        let mut stream = UnixStream::connect(&path).unwrap();
        stream.write_all(REQUEST).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    let mut crashed = start();
    assert!(ask().ends_with(ARTHUR));
    crashed.kill();
    assert!(path.exists());
    let mut again = start();
    assert!(ask().ends_with(ARTHUR));
    assert!(again.stop().success());
    assert!(!path.exists());
}

/// An authority and certificates of it, as PEM files in a directory.
struct Authority {
    dir: tempfile::TempDir,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap();
        std::fs::write(dir.path().join("ca.pem"), certificate.pem()).unwrap();
        Self {
            dir,
            issuer: Issuer::new(params, key),
        }
    }

    fn issue(&self, name: &str) {
        let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(names).unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        let both = certificate.pem() + &key.serialize_pem();
        std::fs::write(self.file(name), both).unwrap();
    }

    fn file(&self, name: &str) -> String {
        self.dir.path().join(name).display().to_string()
    }
}

/// What an HTTPS request gets, with a client certificate or without.
fn https(host: &str, authority: &Authority, certificate: Option<&str>) -> std::io::Result<String> {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio_rustls::rustls::pki_types::{
        CertificateDer, PrivateKeyDer, ServerName, pem::PemObject,
    };
    use tokio_rustls::rustls::{ClientConfig, RootCertStore, crypto::ring};

    let mut roots = RootCertStore::empty();
    let ca = authority.file("ca.pem");
    roots
        .add(CertificateDer::from_pem_file(ca).unwrap())
        .unwrap();
    let builder = ClientConfig::builder_with_provider(ring::default_provider().into())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots);
    let config = match certificate.map(|name| authority.file(name)) {
        None => builder.with_no_client_auth(),
        Some(file) => {
            let chain = vec![CertificateDer::from_pem_file(&file).unwrap()];
            let key = PrivateKeyDer::from_pem_file(&file).unwrap();
            builder.with_client_auth_cert(chain, key).unwrap()
        }
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let stream = tokio::net::TcpStream::connect(host).await?;
        let name = ServerName::try_from("localhost").unwrap();
        let connector = tokio_rustls::TlsConnector::from(std::sync::Arc::new(config));
        let mut stream = connector.connect(name, stream).await?;
        stream.write_all(REQUEST).await?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await?;
        Ok(answer)
    })
}

#[test]
fn https_is_served_and_a_client_without_its_certificate_is_refused() {
    let authority = Authority::new();
    authority.issue("server.pem");
    authority.issue("client.pem");
    let (server, ca) = (authority.file("server.pem"), authority.file("ca.pem"));
    let plain = Sidecar::embedded(&["--tls-cert", &server, "--tls-key", &server]);
    assert!(
        https(&plain.host, &authority, None)
            .unwrap()
            .ends_with(ARTHUR)
    );
    let mutual = Sidecar::embedded(&[
        "--tls-cert",
        &server,
        "--tls-key",
        &server,
        "--tls-client-ca",
        &ca,
    ]);
    assert!(
        https(&mutual.host, &authority, Some("client.pem"))
            .unwrap()
            .ends_with(ARTHUR)
    );
    assert!(https(&mutual.host, &authority, None).is_err());
    let stranger = Authority::new();
    stranger.issue("client.pem");
    std::fs::copy(stranger.file("client.pem"), authority.file("stranger.pem")).unwrap();
    assert!(https(&mutual.host, &authority, Some("stranger.pem")).is_err());
}

#[test]
fn sighup_reads_the_certificate_again_and_keeps_the_old_one_when_the_new_is_wrong() {
    let (first, second) = (Authority::new(), Authority::new());
    for authority in [&first, &second] {
        authority.issue("server.pem");
    }
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).display().to_string();
    let (certificate, key) = (path("cert.pem"), path("key.pem"));
    let put = |authority: &Authority, file: &str| {
        std::fs::copy(authority.file("server.pem"), file).unwrap();
    };
    put(&first, &certificate);
    put(&first, &key);
    let sidecar = Sidecar::embedded(&["--tls-cert", &certificate, "--tls-key", &key]);
    let trusted_by = |authority| {
        https(&sidecar.host, authority, None).is_ok_and(|answer| answer.ends_with(ARTHUR))
    };
    assert!(trusted_by(&first) && !trusted_by(&second));

    // A key that is not the certificate's.
    put(&second, &certificate);
    sidecar.process.signal(libc::SIGHUP);
    let kept = "the old configuration stays: TLS";
    assert!(sidecar.process.wait_for_output(kept, SOON));
    assert!(trusted_by(&first) && !trusted_by(&second));

    put(&second, &key);
    sidecar.process.signal(libc::SIGHUP);
    eventually("the new certificate is shown", || trusted_by(&second));
    assert!(!trusted_by(&first));
}

#[test]
fn a_server_with_a_login_is_read_with_it_and_not_with_a_wrong_one() {
    let started = Mongo::start_kind(Kind::SecantusDb);
    let Some(mut mongo) = present("a login", started) else {
        return;
    };
    let user = doc! {
        "createUser": "reader", "pwd": "open-sesame-1",
        "roles": [{ "role": "readWrite", "db": "mongo" }],
    };
    mongo.command("admin", user).unwrap();
    mongo.stop();
    mongo.restart(&["--auth"]).unwrap();
    let with = |password: &str| {
        let port = mongo.port();
        let string = format!("mongodb://reader:{password}@127.0.0.1:{port}/?directConnection=true");
        Sidecar::mongodb(&string, &[])
    };
    let right = with("open-sesame-1");
    right.wait_until_ready();
    assert_eq!(right.says("/users/1"), (200, ARTHUR.to_owned()));
    let wrong = with("open-barley-2");
    eventually("a wrong login is found out", || {
        wrong.process.output().contains("is down")
    });
    assert_eq!(wrong.get("/users/1").status, 503);
    assert_eq!(wrong.get("/readyz").status, 503);
    assert!(!wrong.process.output().contains("open-barley-2"));
}

#[test]
fn a_server_with_tls_is_read_over_it() {
    let authority = Authority::new();
    authority.issue("server.pem");
    let (server, ca) = (authority.file("server.pem"), authority.file("ca.pem"));
    let started = Mongo::start_kind(Kind::SecantusDb);
    let Some(mut mongo) = present("a server with TLS", started) else {
        return;
    };
    mongo.stop();
    mongo
        .restart(&["--tls-cert-file", &server, "--tls-key-file", &server])
        .unwrap();
    let string = format!("{}&tls=true&tlsCAFile={ca}", mongo.connection_string());
    let sidecar = Sidecar::mongodb(&string, &[]);
    sidecar.wait_until_ready();
    assert_eq!(sidecar.says("/users/1"), (200, ARTHUR.to_owned()));
}
