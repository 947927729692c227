//! TLS for those who connect: the pair of files that `--tls-cert` and `--tls-key` name, read again when one changes, so
//! that a renewed certificate is served without a restart. A new pair that is no good leaves the old one in use.

use std::path::{Path, PathBuf};
use std::sync::{Arc, RwLock, Weak};
use std::time::{Duration, SystemTime};

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::{ClientHello, ResolvesServerCert};
use tokio_rustls::rustls::sign::CertifiedKey;
use tracing::Level;

use crate::error::Error;

/// How often the files are looked at.
const INTERVAL: Duration = Duration::from_secs(1);

/// The files of a certificate and its key.
#[derive(Clone, Debug)]
pub struct Files {
    pub certificate: PathBuf,
    pub key: PathBuf,
}

/// Reads the files and gives what accepts connections with them, now and as they will be.
pub fn acceptor(files: Files) -> Result<TlsAcceptor, Error> {
    let seen = files.look();
    let pair = Arc::new(Pair {
        current: RwLock::new(Arc::new(files.read().map_err(Error::Tls)?)),
    });
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| Error::Tls(error.to_string()))?
        .with_no_client_auth()
        .with_cert_resolver(pair.clone());
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let weak = Arc::downgrade(&pair);
    std::thread::Builder::new()
        .name("certificate".into())
        .spawn(move || follow(&files, seen, &weak))
        .map_err(|source| Error::Io {
            what: "cannot start a thread".into(),
            source,
        })?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// What new connections are shown.
#[derive(Debug)]
struct Pair {
    current: RwLock<Arc<CertifiedKey>>,
}

impl ResolvesServerCert for Pair {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let current = self.current.read().unwrap_or_else(|e| e.into_inner());
        Some(current.clone())
    }
}

type Look = [Option<(SystemTime, u64)>; 2];

/// Reads the files again whenever they have changed, until nobody uses the pair.
fn follow(files: &Files, mut seen: Look, pair: &Weak<Pair>) {
    loop {
        std::thread::sleep(INTERVAL);
        let Some(pair) = pair.upgrade() else { return };
        let now = files.look();
        if now == seen {
            continue;
        }
        seen = now;
        // Between the writing of the two files they do not match; the second one's change is met a second later.
        match files.read() {
            Ok(new) => {
                *pair.current.write().unwrap_or_else(|e| e.into_inner()) = Arc::new(new);
                let name = files.certificate.display();
                crate::say(Level::INFO, &format!("TLS: serving the new {name}"));
            }
            Err(reason) => {
                let line = format!("TLS: {reason}; the certificate before it stays in use");
                crate::say(Level::ERROR, &line);
            }
        }
    }
}

impl Files {
    fn look(&self) -> Look {
        [&self.certificate, &self.key].map(|path| {
            let metadata = path.metadata().ok()?;
            Some((metadata.modified().ok()?, metadata.len()))
        })
    }

    /// Reads the pair and checks that the two belong together.
    fn read(&self) -> Result<CertifiedKey, String> {
        let chain = certificates(&self.certificate)?;
        let key = PrivateKeyDer::from_pem_file(&self.key)
            .map_err(|error| format!("{} holds no private key: {error}", self.key.display()))?;
        CertifiedKey::from_der(chain, key, &ring::default_provider()).map_err(|error| {
            format!(
                "{} and {} do not make a pair: {error}",
                self.certificate.display(),
                self.key.display()
            )
        })
    }
}

fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let certificates = CertificateDer::pem_file_iter(file)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| format!("{} cannot be read: {error}", file.display()))?;
    if certificates.is_empty() {
        return Err(format!("{} holds no certificate", file.display()));
    }
    Ok(certificates)
}
