//! Where a component's wasm comes from: a file, or a URL with a digest, kept in a cache by that digest.

use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::Error;
use crate::manifest::RemoteSource;
use crate::shapes::StringOr;

/// Gets a URL's body. This crate has no HTTP client; a host lends it one.
pub trait Fetch: Send + Sync {
    fn fetch(&self, url: &str) -> Result<Vec<u8>, String>;
}

/// How to find sources.
pub(crate) struct Sources<'a> {
    /// The manifest, for messages.
    pub manifest: &'a Path,
    /// The manifest's directory.
    pub base: &'a Path,
    pub cache: &'a Path,
    pub fetch: Option<&'a dyn Fetch>,
}

impl Sources<'_> {
    /// The local file of a component's wasm.
    pub fn locate(
        &self,
        component: &str,
        source: &StringOr<RemoteSource>,
    ) -> Result<PathBuf, Error> {
        let remote = match source {
            StringOr::String(path) => {
                return existing(self.base.join(path), self.manifest, component);
            }
            StringOr::Table(remote) => remote,
        };
        let invalid = |message: &str| Error::Invalid {
            path: self.manifest.to_owned(),
            at: format!("component `{component}`: source"),
            message: message.to_owned(),
        };
        match (&remote.url, &remote.digest, &remote.package) {
            (Some(url), Some(digest), None) => {
                let hex = digest
                    .strip_prefix("sha256:")
                    .filter(|hex| {
                        hex.len() == 64 && hex.bytes().all(|byte| byte.is_ascii_hexdigit())
                    })
                    .ok_or_else(|| {
                        invalid("the digest must be `sha256:` and 64 hexadecimal digits")
                    })?;
                self.download(component, url, &hex.to_ascii_lowercase())
            }
            (None, None, Some(_)) => Err(Error::Unsupported {
                path: self.manifest.to_owned(),
                at: format!("component `{component}`"),
                field: "source.package".into(),
                way_out: "download the package and name the file, or give its `url` and `digest`",
            }),
            (Some(_), None, None) => Err(invalid("a `url` needs a `digest = \"sha256:…\"`")),
            _ => Err(invalid(
                "write a path, `{ url, digest }` or `{ package, version }`",
            )),
        }
    }

    fn download(&self, component: &str, url: &str, hex: &str) -> Result<PathBuf, Error> {
        let path = self.cache.join("wasm").join(format!("sha256-{hex}"));
        let found = match fs::read(&path) {
            Ok(bytes) => hex_digest(&bytes),
            Err(_) => {
                let failed = |message| Error::Fetch {
                    component: component.into(),
                    url: url.into(),
                    message,
                };
                let fetch = self.fetch.ok_or_else(|| {
                    failed(format!(
                        "this program has no HTTP client; download it to {}",
                        path.display()
                    ))
                })?;
                let bytes = fetch.fetch(url).map_err(failed)?;
                let found = hex_digest(&bytes);
                if found == hex {
                    store(&path, &bytes)?;
                }
                found
            }
        };
        if found != hex {
            let wanted = format!("sha256:{hex}");
            return Err(Error::Digest {
                component: component.into(),
                wasm: path,
                wanted,
                found,
            });
        }
        Ok(path)
    }
}

/// Writes the file whole or not at all, so that two programs may share the cache.
fn store(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let failed = |source| Error::Write {
        path: path.to_owned(),
        source,
    };
    let directory = path.parent().unwrap_or(Path::new(""));
    fs::create_dir_all(directory).map_err(failed)?;
    let mut file = tempfile::NamedTempFile::new_in(directory).map_err(failed)?;
    std::io::Write::write_all(&mut file, bytes).map_err(failed)?;
    file.persist(path)
        .map_err(|error| failed(error.error))
        .map(drop)
}

fn hex_digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// `wasm`, if there is such a file.
pub(crate) fn existing(wasm: PathBuf, manifest: &Path, component: &str) -> Result<PathBuf, Error> {
    if wasm.is_file() {
        return Ok(wasm);
    }
    Err(Error::NoWasm {
        path: manifest.to_owned(),
        component: component.to_owned(),
        wasm,
    })
}
