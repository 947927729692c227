//! A manifest file, version 2, as written: parsed strictly, with nothing resolved. An unknown key is an error that
//! names the key and its place.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::Error;
use crate::ids::{ComponentId, VariableName};
use crate::shapes::{OneOrMany, StringOr};

/// `spin.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Manifest {
    #[serde(rename = "spin_manifest_version")]
    _version: IgnoredAny,
    pub application: Application,
    #[serde(default)]
    pub variables: BTreeMap<VariableName, Variable>,
    #[serde(default)]
    pub trigger: Triggers,
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
    #[serde(rename = "targets")]
    _targets: Option<IgnoredAny>,
    #[serde(default)]
    pub trigger: BTreeMap<String, toml::Table>,
    #[serde(default, rename = "tool")]
    _tool: BTreeMap<String, IgnoredAny>,
}

/// `[variables.x]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Variable {
    pub default: Option<String>,
    #[serde(default)]
    pub required: bool,
    #[serde(default, rename = "secret")]
    _secret: bool,
    #[serde(rename = "description")]
    _description: Option<String>,
}

/// `[[trigger.<kind>]]`
#[derive(Debug, Default)]
pub(crate) struct Triggers {
    pub http: Vec<HttpTrigger>,
    /// Kinds that this host does not serve.
    pub others: Vec<String>,
}

/// `[[trigger.http]]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HttpTrigger {
    pub id: Option<String>,
    pub route: StringOr<Private>,
    pub component: Option<StringOr<Box<Component>>>,
    pub static_response: Option<StaticResponse>,
    pub executor: Option<Executor>,
    pub components: Option<IgnoredAny>,
    pub dependencies: Option<IgnoredAny>,
}

/// `route = { private = true }`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Private {
    pub private: bool,
}

/// `static_response = { … }`; unknown keys are ignored, as Spin does.
#[derive(Debug, Deserialize)]
pub(crate) struct StaticResponse {
    #[serde(default = "ok")]
    pub status_code: u16,
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    #[serde(default)]
    pub body: String,
}

fn ok() -> u16 {
    200
}

/// `executor = { type = "…" }`
#[derive(Debug, Deserialize)]
pub(crate) struct Executor {
    #[serde(rename = "type")]
    pub kind: String,
}

/// `[component.x]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Component {
    pub source: StringOr<RemoteSource>,
    pub description: Option<String>,
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    #[serde(default)]
    pub variables: BTreeMap<VariableName, String>,
    #[serde(default)]
    pub allowed_outbound_hosts: Vec<String>,
    #[serde(default)]
    pub allowed_http_hosts: Vec<String>,
    #[serde(default)]
    pub files: Vec<StringOr<Placement>>,
    #[serde(default)]
    pub exclude_files: Vec<String>,
    #[serde(default)]
    pub key_value_stores: Vec<String>,
    #[serde(default)]
    pub sqlite_databases: Vec<String>,
    #[serde(default)]
    pub ai_models: Vec<String>,
    #[serde(default)]
    pub dependencies: BTreeMap<String, IgnoredAny>,
    #[serde(rename = "dependencies_inherit_configuration")]
    _dependencies_inherit_configuration: Option<bool>,
    #[serde(default)]
    pub profile: BTreeMap<String, Profile>,
    #[serde(rename = "targets")]
    _targets: Option<IgnoredAny>,
    pub build: Option<Build>,
    #[serde(default, rename = "tool")]
    _tool: BTreeMap<String, IgnoredAny>,
}

/// `source = { url, digest }` or `{ package, version, registry }`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RemoteSource {
    pub url: Option<String>,
    pub digest: Option<String>,
    pub package: Option<String>,
    #[serde(rename = "version")]
    _version: Option<String>,
    #[serde(rename = "registry")]
    _registry: Option<String>,
}

/// `files = [{ source, destination }]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Placement {
    pub source: String,
    pub destination: String,
}

/// `[component.x.build]`
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Build {
    pub command: OneOrMany,
    pub workdir: Option<String>,
    #[serde(default)]
    pub watch: Vec<String>,
}

/// `[component.x.profile.<name>]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Profile {
    pub source: Option<StringOr<RemoteSource>>,
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    #[serde(default)]
    pub dependencies: BTreeMap<String, IgnoredAny>,
    pub build: Option<ProfileBuild>,
}

/// `[component.x.profile.<name>.build]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProfileBuild {
    pub command: OneOrMany,
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
    let wrong = |message: String| {
        Err(Error::Invalid {
            path: path.to_owned(),
            at: "spin_manifest_version".into(),
            message,
        })
    };
    match table.get("spin_manifest_version") {
        Some(toml::Value::Integer(2)) => from_toml(text, path),
        Some(toml::Value::String(version)) if version == "1" => wrong(
            "version \"1\" is not supported; `spin doctor` converts the manifest to version 2"
                .into(),
        ),
        Some(other) => wrong(format!(
            "invalid manifest version {other}; write `spin_manifest_version = 2`"
        )),
        None => wrong("missing; write `spin_manifest_version = 2` in the first line".into()),
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
            path: path.to_owned(),
            line,
            column,
            message,
        }
    })
}
