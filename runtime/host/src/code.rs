//! What a component's file holds, as wasmtime takes it: a component in binary or text, a core module that is adapted, or
//! an artifact that was compiled before.

use std::path::{Path, PathBuf};

use wasmtime::Engine;
use wasmtime::component::Component;

use crate::engine::Wasi;
use crate::error::Error;
use crate::{adapt, artifact, p2};

/// A component's code, read and not compiled yet, or compiled before.
pub struct Code {
    component: String,
    path: PathBuf,
    bytes: Vec<u8>,
    is_artifact: bool,
    /// Which engine it needs.
    pub wasi: Wasi,
}

impl Code {
    /// Reads the file of the component with this id.
    pub fn read(component: &str, path: &Path) -> Result<Self, Error> {
        let read = std::fs::read(path).map_err(|source| Error::Read {
            path: path.to_owned(),
            source,
        })?;
        let mut code = Code {
            component: component.to_owned(),
            path: path.to_owned(),
            bytes: read,
            is_artifact: false,
            wasi: Wasi::P3,
        };
        if artifact::is_artifact(&code.bytes) {
            code.is_artifact = true;
            code.wasi = artifact::wasi_of(&code.bytes).map_err(|reason| code.unusable(reason))?;
            return Ok(code);
        }
        // Text becomes binary, and binary stays as it is.
        let binary =
            wat::parse_bytes(&code.bytes).map_err(|error| code.no_component(&error.to_string()))?;
        code.bytes = binary.into_owned();
        if adapt::is_core_module(&code.bytes) {
            code.bytes = adapt::to_component(&code.bytes).map_err(|reason| Error::Adapt {
                component: component.to_owned(),
                path: path.to_owned(),
                reason,
            })?;
        }
        code.wasi = wasi_of(&code.bytes);
        Ok(code)
    }

    /// The component, compiled now unless it was before.
    pub fn component(&self, engine: &Engine) -> Result<Component, Error> {
        if self.is_artifact {
            return artifact::load(engine, &self.bytes)
                .map_err(|error| self.unusable(error.root_cause().to_string()));
        }
        Component::new(engine, &self.bytes)
            .map_err(|error| self.no_component(&error.root_cause().to_string()))
    }

    /// The component as an artifact.
    pub fn compile(&self, engine: &Engine) -> Result<Vec<u8>, Error> {
        if self.is_artifact {
            return Err(self.unusable("it is compiled already, and holds no wasm".into()));
        }
        engine
            .precompile_component(&self.bytes)
            .map_err(|error| self.no_component(&error.root_cause().to_string()))
    }

    fn unusable(&self, reason: String) -> Error {
        Error::Artifact {
            component: self.component.clone(),
            path: self.path.clone(),
            reason,
        }
    }

    /// A parser's message has a picture of the place below it, which is too much for one line.
    fn no_component(&self, message: &str) -> Error {
        Error::NotAComponent {
            component: self.component.clone(),
            path: self.path.clone(),
            reason: message.lines().next().unwrap_or_default().to_owned(),
        }
    }
}

/// Which WASI a component was built for, as far as its bytes tell; one that tells nothing is judged by its exports.
fn wasi_of(bytes: &[u8]) -> Wasi {
    let has = |needle: &str| {
        bytes
            .windows(needle.len())
            .any(|window| window == needle.as_bytes())
    };
    if has(p2::HANDLER) && !has("wasi:http/handler@0.3") {
        Wasi::P2
    } else {
        Wasi::P3
    }
}
