//! The runtime config file: what an operator says of the app beside its manifest. A key that is not known is an
//! error, and so is one that Spin knows and this host does not honour.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::Error;
use crate::manifest::from_toml;
use crate::networks::BlockedNetworks;
use crate::variables::Provider;

/// What the file said.
#[derive(Debug, Default)]
pub(crate) struct RuntimeConfig {
    pub state_dir: Option<String>,
    pub log_dir: Option<String>,
    pub max_instance_memory: Option<u64>,
    pub providers: Vec<Provider>,
    pub blocked_networks: BlockedNetworks,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    state_dir: Option<String>,
    log_dir: Option<String>,
    max_instance_memory: Option<u64>,
    #[serde(default, alias = "config_provider")]
    variables_provider: Vec<toml::Table>,
    outbound_networking: Option<OutboundNetworking>,
    key_value_store: Option<IgnoredAny>,
    sqlite_database: Option<IgnoredAny>,
    llm_compute: Option<IgnoredAny>,
    client_tls: Option<IgnoredAny>,
    outbound_http: Option<IgnoredAny>,
    outbound_pg: Option<IgnoredAny>,
    outbound_mysql: Option<IgnoredAny>,
    outbound_redis: Option<IgnoredAny>,
    outbound_mqtt: Option<IgnoredAny>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct OutboundNetworking {
    #[serde(default)]
    block_networks: Vec<String>,
    max_total_connections: Option<IgnoredAny>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct StaticProvider {
    #[serde(rename = "type")]
    _type: IgnoredAny,
    values: HashMap<String, String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct EnvironmentProvider {
    #[serde(rename = "type")]
    _type: IgnoredAny,
    prefix: Option<String>,
    dotenv_path: Option<PathBuf>,
}

/// Reads the file.
pub(crate) fn read(path: &Path) -> Result<RuntimeConfig, Error> {
    let text = std::fs::read_to_string(path).map_err(|source| Error::Read {
        path: path.to_owned(),
        source,
    })?;
    parse(&text, path)
}

pub(crate) fn parse(text: &str, path: &Path) -> Result<RuntimeConfig, Error> {
    let file: File = from_toml(text, path)?;
    let refused = |field: &str, way_out: &'static str| Error::Unsupported {
        path: path.to_owned(),
        at: "the runtime config".into(),
        field: field.to_owned(),
        way_out,
    };
    for (field, present) in [
        ("key_value_store", file.key_value_store),
        ("sqlite_database", file.sqlite_database),
        ("llm_compute", file.llm_compute),
        ("client_tls", file.client_tls),
        ("outbound_pg", file.outbound_pg),
        ("outbound_mysql", file.outbound_mysql),
        ("outbound_redis", file.outbound_redis),
        ("outbound_mqtt", file.outbound_mqtt),
    ] {
        if present.is_some() {
            return Err(refused(field, "remove it, or run the app under `spin up`"));
        }
    }
    if file.outbound_http.is_some() {
        return Err(refused(
            "outbound_http",
            "remove it; limits on outbound HTTP are flags here, see --help",
        ));
    }
    let networking = file.outbound_networking.unwrap_or(OutboundNetworking {
        block_networks: Vec::new(),
        max_total_connections: None,
    });
    if networking.max_total_connections.is_some() {
        let field = "outbound_networking.max_total_connections";
        return Err(refused(
            field,
            "remove it; limits on outbound connections are flags here, see --help",
        ));
    }
    let invalid = |at: &str, message: String| Error::Invalid {
        path: path.to_owned(),
        at: at.to_owned(),
        message,
    };

    let mut providers = Vec::new();
    for table in file.variables_provider {
        let kind = table
            .get("type")
            .and_then(toml::Value::as_str)
            .unwrap_or_default()
            .to_owned();
        let at = format!("variables_provider of type \"{kind}\"");
        let wrong = |error: toml::de::Error| invalid(&at, error.message().to_owned());
        providers.push(match kind.as_str() {
            "static" => Provider::Static(table.try_into::<StaticProvider>().map_err(wrong)?.values),
            "env" => {
                let provider: EnvironmentProvider = table.try_into().map_err(wrong)?;
                Provider::environment(provider.prefix, provider.dotenv_path)
            }
            "vault" | "azure_key_vault" => {
                return Err(refused(
                    &format!("variables_provider.{kind}"),
                    "pass its values as SPIN_VARIABLE_* or by --variable @file.toml",
                ));
            }
            _ => {
                return Err(invalid(
                    &at,
                    "no such type; there are \"static\" and \"env\"".into(),
                ));
            }
        });
    }
    Ok(RuntimeConfig {
        state_dir: file.state_dir,
        log_dir: file.log_dir,
        max_instance_memory: file.max_instance_memory,
        providers,
        blocked_networks: BlockedNetworks::parse(&networking.block_networks)
            .map_err(|message| invalid("outbound_networking.block_networks", message))?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        parse(text, Path::new("runtime.toml"))
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn an_unknown_key_is_an_error_that_names_it_and_its_place() {
        let message = error("state_dir = \"x\"\nstat_dir = \"x\"\n");
        assert!(
            message.starts_with("runtime.toml:2:1: unknown field `stat_dir`"),
            "{message}"
        );
        assert!(error("[outbound_networking]\nblock = []\n").contains("unknown field `block`"));
        assert!(
            error("[[variables_provider]]\ntype = \"env\"\nprefx = \"A\"\n")
                .contains("unknown field `prefx`")
        );
    }

    #[test]
    fn what_this_host_does_not_honour_is_refused_by_name() {
        for (text, name) in [
            (
                "[key_value_store.default]\ntype = \"spin\"",
                "key_value_store",
            ),
            (
                "[sqlite_database.default]\ntype = \"spin\"",
                "sqlite_database",
            ),
            ("[llm_compute]\ntype = \"spin\"", "llm_compute"),
            ("[[client_tls]]\ncomponent_ids = []", "client_tls"),
            (
                "[outbound_http]\nconnection_pooling = false",
                "outbound_http",
            ),
            ("[outbound_pg]\nmax_connections = 1", "outbound_pg"),
            (
                "[outbound_networking]\nmax_total_connections = 1",
                "outbound_networking.max_total_connections",
            ),
            (
                "[[variables_provider]]\ntype = \"vault\"\nurl = \"http://x\"",
                "variables_provider.vault",
            ),
            (
                "[[variables_provider]]\ntype = \"azure_key_vault\"",
                "variables_provider.azure_key_vault",
            ),
        ] {
            let message = error(text);
            assert!(
                message.contains(&format!("needs `{name}`, which this host does not provide")),
                "{message}"
            );
        }
    }

    #[test]
    fn what_it_honours_is_kept() {
        let config = parse(
            "state_dir = \"s\"\nlog_dir = \"\"\nmax_instance_memory = 1000\n\
             [[variables_provider]]\ntype = \"static\"\nvalues = { a = \"b\" }\n\
             [[variables_provider]]\ntype = \"env\"\nprefix = \"APP\"\n\
             [outbound_networking]\nblock_networks = [\"private\"]\n",
            Path::new("runtime.toml"),
        )
        .unwrap();
        assert_eq!(config.state_dir.as_deref(), Some("s"));
        assert_eq!(config.log_dir.as_deref(), Some(""));
        assert_eq!(config.max_instance_memory, Some(1000));
        assert_eq!(config.providers.len(), 2);
        assert!(config.blocked_networks.blocks([127, 0, 0, 1].into()));
    }
}
