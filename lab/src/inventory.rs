//! What a target is made of: its files, its dependencies and its settings.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::config::{Config, Target};
use crate::digest::sha256_hex;
use crate::programs;
use crate::results::{self, Artifact, Fact};

/// The program, unless it is an interpreter from elsewhere, and the components among the files.
pub fn artifacts(config: &Config, target: &Target, program: &Path) -> Vec<Artifact> {
    let ours = target.command[0].contains('/') || testbed::built(&target.command[0]).is_ok();
    let program = ours.then(|| program.to_owned());
    let components = target
        .files
        .iter()
        .map(|file| config.path(file))
        .filter(|file| kind(file) != "binary" && file.is_file());
    program
        .into_iter()
        .chain(components)
        .filter_map(|file| artifact(&file))
        .collect()
}

fn artifact(file: &Path) -> Option<Artifact> {
    let bytes = fs::read(file).ok()?;
    Some(Artifact {
        kind: kind(file).to_owned(),
        file: file.file_name()?.to_string_lossy().into_owned(),
        bytes: bytes.len() as u64,
        sha256: sha256_hex(&bytes),
    })
}

fn kind(file: &Path) -> &'static str {
    match file.extension().and_then(|extension| extension.to_str()) {
        Some("wasm") => "wasm",
        Some("cwasm") => "cwasm",
        _ => "binary",
    }
}

/// Fills in how many packages each of these targets depends on, asking each command of bench.toml once.
pub fn count_dependencies(config: &Config, targets: &mut [results::Target]) {
    let mut counted: BTreeMap<&[String], anyhow::Result<u32>> = BTreeMap::new();
    for target in targets
        .iter_mut()
        .filter(|one| one.missing.is_none() && one.managed)
    {
        let Some(declared) = config.target(&target.name) else {
            continue;
        };
        let command = declared.dependencies.as_slice();
        if command.is_empty() {
            continue;
        }
        match counted
            .entry(command)
            .or_insert_with(|| lines_printed(config, command))
        {
            Ok(count) => target.dependencies = Some(*count),
            Err(error) => target.disclosures.push(Fact {
                name: "dependencies".into(),
                value: format!("not counted: {error}"),
            }),
        }
    }
}

/// The number of different lines that a command prints.
fn lines_printed(config: &Config, command: &[String]) -> anyhow::Result<u32> {
    let program = programs::find(&config.dir, &command[0])?;
    let finished = testbed::run(
        Command::new(program)
            .args(&command[1..])
            .current_dir(&config.dir),
        Duration::from_secs(60),
    )?;
    anyhow::ensure!(
        finished.status.success(),
        "{} ended with {}: {}",
        command[0],
        finished.status,
        finished.stderr.lines().last().unwrap_or_default()
    );
    let lines: BTreeSet<&str> = finished
        .stdout
        .lines()
        .filter(|line| !line.is_empty())
        .collect();
    Ok(u32::try_from(lines.len())?)
}

/// What parity asks to disclose and can be read off bench.toml.
pub fn disclosures(config: &Config, target: &Target) -> Vec<Fact> {
    let beside: Vec<&str> = config
        .services_of(target)
        .into_iter()
        .filter(|name| config.services[*name].with_target)
        .collect();
    let flag = |name: &str| flag(&target.command, name);
    let mut facts = Vec::new();
    if !beside.is_empty() {
        facts.push(Fact {
            name: "inside its limits, and counted with it".into(),
            value: beside.join(", "),
        });
    }
    for name in config.services_of(target) {
        if let Some(kept) = kept_answers(config, name) {
            facts.push(Fact {
                name: format!("answers that {name} keeps in a cache"),
                value: kept,
            });
        }
    }
    if let Some(reuse) = flag("--max-instance-reuse-count") {
        facts.push(Fact {
            name: "requests in one instance's life".into(),
            value: reuse,
        });
    }
    let told = |(name, value): (&String, &String)| Fact {
        name: name.clone(),
        value: value.clone(),
    };
    facts.extend(target.discloses.iter().map(told));
    for (name, value) in &target.env {
        let runtime_knob = ["GO", "DOTNET_", "TOKIO_", "NODE_"]
            .iter()
            .any(|knob| name.starts_with(knob));
        if runtime_knob {
            facts.push(Fact {
                name: name.clone(),
                value: value.clone(),
            });
        }
    }
    facts
}

/// What a command gives for a flag, as `--flag value` or as `--flag=value`.
fn flag(command: &[String], name: &str) -> Option<String> {
    let mut words = command.iter();
    while let Some(word) = words.next() {
        match word.strip_prefix(name) {
            Some("") => return words.next().cloned(),
            Some(rest) if rest.starts_with('=') => return Some(rest[1..].to_owned()),
            _ => {}
        }
    }
    None
}

/// The queries whose answers a sidecar keeps, and for how long, as its file declares; that nobody knows if the file says
/// nothing.
fn kept_answers(config: &Config, service: &str) -> Option<String> {
    let service = &config.services[service];
    let file = flag(&service.command, "--config")
        .or_else(|| service.env.get("SIDECAR_CONFIG").cloned())?;
    let text = fs::read_to_string(config.path(Path::new(&file))).unwrap_or_default();
    let declared: toml::Table = text.parse().unwrap_or_default();
    let Some(queries) = declared.get("query").and_then(toml::Value::as_table) else {
        return Some(format!("unknown: {file} declares no queries"));
    };
    let kept: Vec<String> = queries
        .iter()
        .filter_map(|(query, keys)| {
            let ttl = keys.get("cache")?.get("ttl")?.as_str()?;
            Some(format!("{query} for {ttl}"))
        })
        .collect();
    (!kept.is_empty()).then(|| kept.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cache_of_the_sidecar_is_disclosed_and_its_absence_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
        let bench = r#"
            [service.sidecar]
            command = ["levelfield-sidecar", "--config", "sidecar.toml"]
            url = "http://127.0.0.1:{port}"
            [[target]]
            name = "component"
            command = ["levelfield-host", "--env", "SIDECAR_URL={sidecar}"]
        "#;
        put("bench.toml", bench);
        let config = Config::load(Some(&dir.path().join("bench.toml"))).unwrap();
        let disclosed = |cache: &str| {
            put(
                "sidecar.toml",
                &format!("[query.users]\npath = \"/users\"\n{cache}"),
            );
            let facts = disclosures(&config, &config.targets[0]);
            let fact = facts.into_iter().find(|fact| fact.name.contains("cache"));
            fact.map(|fact| (fact.name, fact.value))
        };
        assert_eq!(disclosed(""), None);
        let kept = "answers that sidecar keeps in a cache".to_owned();
        let cache = "cache = { ttl = \"1s\", max_entries = 10 }";
        assert_eq!(disclosed(cache), Some((kept, "users for 1s".to_owned())));
        assert!(disclosed("]").unwrap().1.contains("unknown"));
    }
}
