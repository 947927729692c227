//! Whom the host trusts when it connects to others by TLS: Mozilla's roots, or the certificates in `SSL_CERT_FILE`.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use crate::error::Error;

/// The variable that other TLS programs read too; its certificates are trusted instead of Mozilla's.
const VARIABLE: &str = "SSL_CERT_FILE";

/// Made once: building the set of root certificates takes longer than a handshake.
static CONFIG: OnceLock<Arc<ClientConfig>> = OnceLock::new();

/// Reads `SSL_CERT_FILE`, if it is set, so that a mistake in it is told at start.
pub fn start() -> Result<(), Error> {
    let path = match std::env::var_os(VARIABLE) {
        Some(path) if !path.is_empty() => PathBuf::from(path),
        _ => return Ok(()),
    };
    let roots = read(&path).map_err(|reason| Error::CertFile { path, reason })?;
    // The first start counts; a later one of `watch` finds the same variable.
    let _ = CONFIG.set(trusting(roots));
    Ok(())
}

fn read(path: &Path) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(path).map_err(|e| e.to_string())? {
        let certificate = certificate.map_err(|e| e.to_string())?;
        roots.add(certificate).map_err(|e| e.to_string())?;
    }
    if roots.is_empty() {
        return Err("it has no certificate in PEM".into());
    }
    Ok(roots)
}

fn trusting(roots: RootCertStore) -> Arc<ClientConfig> {
    Arc::new(
        ClientConfig::builder()
            .with_root_certificates(roots)
            .with_no_client_auth(),
    )
}

/// The settings of every TLS connection to others.
pub fn config() -> Arc<ClientConfig> {
    CONFIG
        .get_or_init(|| {
            trusting(RootCertStore {
                roots: webpki_roots::TLS_SERVER_ROOTS.into(),
            })
        })
        .clone()
}
