//! A manifest file, version 2, as written: parsed strictly, with nothing resolved. An unknown key is an error that
//! names the key and its place.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::Error;
use crate::ids::{ComponentId, VariableName};

/// `spin.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Manifest {
    #[serde(rename = "spin_manifest_version")]
    _version: toml::Value,
    pub application: Application,
    #[serde(default)]
    pub variables: BTreeMap<VariableName, toml::Value>,
    #[serde(default)]
    pub trigger: BTreeMap<String, toml::Value>,
    #[serde(default)]
    pub component: BTreeMap<ComponentId, Component>,
}

/// `[application]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Application {
    pub name: String,
    pub version: Option<String>,
    pub description: Option<String>,
    #[serde(default, rename = "authors")]
    _authors: Vec<String>,
    #[serde(default, rename = "targets")]
    _targets: Vec<toml::Value>,
    #[serde(default)]
    pub trigger: BTreeMap<String, toml::Table>,
    #[serde(default, rename = "tool")]
    _tool: BTreeMap<String, toml::Table>,
}

/// `[[trigger.http]]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HttpTrigger {
    pub id: Option<String>,
    pub route: toml::Value,
    pub component: Option<toml::Value>,
    pub static_response: Option<toml::Value>,
    pub executor: Option<toml::Value>,
}

/// `[component.x]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Component {
    pub source: toml::Value,
    pub description: Option<String>,
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    #[serde(default)]
    pub variables: BTreeMap<VariableName, String>,
    #[serde(default)]
    pub allowed_outbound_hosts: Vec<String>,
    pub allowed_http_hosts: Option<toml::Value>,
    #[serde(default)]
    pub files: Vec<toml::Value>,
    #[serde(default)]
    pub exclude_files: Vec<String>,
    pub key_value_stores: Option<toml::Value>,
    pub sqlite_databases: Option<toml::Value>,
    pub ai_models: Option<toml::Value>,
    pub dependencies: Option<toml::Value>,
    #[serde(rename = "dependencies_inherit_configuration")]
    _dependencies_inherit_configuration: Option<bool>,
    pub profile: Option<toml::Value>,
    #[serde(default, rename = "targets")]
    _targets: Vec<toml::Value>,
    #[serde(rename = "build")]
    _build: Option<toml::Value>,
    #[serde(default, rename = "tool")]
    _tool: BTreeMap<String, toml::Table>,
}

/// Reads and parses the manifest at `path`.
pub(crate) fn read(path: &Path) -> Result<Manifest, Error> {
    let text = std::fs::read_to_string(path).map_err(|source| Error::Read {
        path: path.to_owned(),
        source,
    })?;
    parse(&text, path)
}

/// Parses a manifest; `path` is only for messages.
pub(crate) fn parse(text: &str, path: &Path) -> Result<Manifest, Error> {
    let table: toml::Table = from_toml(text, path)?;
    let invalid = |message: &str| {
        Err(Error::Manifest {
            path: path.to_owned(),
            message: message.into(),
        })
    };
    match table.get("spin_manifest_version") {
        Some(toml::Value::Integer(2)) => from_toml(text, path),
        Some(toml::Value::String(version)) if version == "1" => invalid(
            "manifest version \"1\" is not supported; `spin doctor` converts it to version 2",
        ),
        Some(other) => invalid(&format!(
            "invalid manifest version {other}; the first line must be `spin_manifest_version = 2`"
        )),
        None => invalid(
            "no `spin_manifest_version`; the first line must be `spin_manifest_version = 2`",
        ),
    }
}

/// Parses TOML so that an error says its line and column and is one line itself.
pub(crate) fn from_toml<T: serde::de::DeserializeOwned>(
    text: &str,
    path: &Path,
) -> Result<T, Error> {
    toml::from_str(text).map_err(|error| {
        let start = error.span().map_or(0, |span| span.start).min(text.len());
        let before = &text.as_bytes()[..start];
        let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
        let column = before
            .iter()
            .rev()
            .take_while(|&&byte| byte != b'\n')
            .count()
            + 1;
        let message = error.message().lines().collect::<Vec<_>>().join("; ");
        Error::Syntax {
            path: PathBuf::from(path),
            line,
            column,
            message,
        }
    })
}
