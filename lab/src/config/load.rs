//! Reading bench.toml, and refusing what cannot be meant.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::digest::sha256_hex;

use super::{Config, Service, named_in};
use crate::results::{CpuMode, Mode, ProfileKind};

#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("cannot read {path}: {source}; name another file by --config")]
    Read {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("{path}: {source}")]
    Parse {
        path: PathBuf,
        source: Box<toml::de::Error>,
    },
    #[error("{path}: {what}")]
    Meaning { path: PathBuf, what: String },
}

impl Config {
    /// Reads `path`, or without one bench.toml of this directory or of the repository.
    pub fn load(path: Option<&Path>) -> Result<Self, ConfigError> {
        let path = match path {
            Some(path) => path.to_owned(),
            None => {
                let here = PathBuf::from("bench.toml");
                match here.is_file() {
                    true => here,
                    false => testbed::repo_root().join("bench.toml"),
                }
            }
        };
        let text = std::fs::read_to_string(&path).map_err(|source| ConfigError::Read {
            path: path.clone(),
            source,
        })?;
        let mut config: Self = toml::from_str(&text).map_err(|source| ConfigError::Parse {
            path: path.clone(),
            source: Box::new(source),
        })?;
        config.sha256 = sha256_hex(text.as_bytes());
        let absolute = std::path::absolute(&path).unwrap_or_else(|_| path.clone());
        config.dir = absolute.parent().unwrap_or(Path::new("/")).to_owned();
        match config.fault() {
            None => Ok(config),
            Some(what) => Err(ConfigError::Meaning { path, what }),
        }
    }

    /// The first thing in it that cannot be meant.
    fn fault(&self) -> Option<String> {
        self.name_fault()
            .or_else(|| self.service_fault())
            .or_else(|| self.reference_fault())
            .or_else(|| {
                self.profiles
                    .iter()
                    .find_map(|profile| self.profile_fault(profile))
            })
    }

    fn name_fault(&self) -> Option<String> {
        let mut seen = BTreeSet::new();
        let twins = self.twins.iter().map(|twin| &twin.name);
        let targets = self.targets.iter().map(|target| &target.name);
        for name in targets.chain(twins) {
            let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
            if name.is_empty() || !name.chars().all(plain) {
                return Some(format!(
                    "target {name:?}: a name consists of letters, digits, '-', '_' and '.'"
                ));
            }
            if !seen.insert(name) {
                return Some(format!("two targets are named {name:?}"));
            }
        }
        if self.targets.is_empty() {
            return Some("there is no [[target]]".to_owned());
        }
        let empty = self
            .targets
            .iter()
            .find(|target| target.command.is_empty())?;
        Some(format!("target {:?} has an empty command", empty.name))
    }

    fn service_fault(&self) -> Option<String> {
        self.services.iter().find_map(|(name, service)| {
            if name == "port" {
                return Some("a service cannot be named \"port\"".to_owned());
            }
            match (service.builtin, service.command.is_empty()) {
                (Some(_), false) => Some(format!(
                    "service {name:?} has both a command and a builtin: keep one"
                )),
                (None, true) => Some(format!("service {name:?} needs a command or a builtin")),
                (None, false) if service.url.is_none() => Some(format!(
                    "service {name:?} needs a url: what {{{name}}} stands for"
                )),
                _ => None,
            }
        })
    }

    fn reference_fault(&self) -> Option<String> {
        let unknown = |kind: &str, name: &str, by: &str| {
            Some(format!("{by} names {kind} {name:?}, which does not exist"))
        };
        for twin in &self.twins {
            if !self.targets.iter().any(|target| target.name == twin.of) {
                return unknown("target", &twin.of, &format!("twin {:?}", twin.name));
            }
        }
        for comparison in &self.comparisons {
            for name in [&comparison.target, &comparison.baseline] {
                if self.target(name).is_none() {
                    return unknown("target", name, "a comparison");
                }
            }
        }
        for target in &self.targets {
            for name in target.scenarios.iter().flatten() {
                if self.scenario(name).is_none() {
                    return unknown("scenario", name, &format!("target {:?}", target.name));
                }
            }
        }
        for scenario in &self.scenarios {
            let by = format!("scenario {:?}", scenario.name);
            if let Some(canary) = &scenario.canary
                && self
                    .services
                    .get(canary)
                    .and_then(|one| one.builtin)
                    .is_none()
            {
                return unknown("builtin service", canary, &by);
            }
        }
        let checkless = self
            .scenarios
            .iter()
            .find(|s| s.body.is_none() && s.body_file.is_none() && s.sha256.is_none())?;
        Some(format!(
            "scenario {:?} has no body, body_file or sha256: an answer that is not checked is not measured",
            checkless.name
        ))
    }

    fn profile_fault(&self, profile: &super::Profile) -> Option<String> {
        let name = &profile.name;
        if profile.cpu_mode == Some(CpuMode::Unlimited) {
            return Some(format!("profile {name:?}: cpu_mode is pin or quota"));
        }
        for &mode in &profile.modes {
            let scenarios = profile.scenarios.get(mode).map_or(&[][..], Vec::as_slice);
            for scenario in scenarios {
                if self.scenario(scenario).is_none() {
                    return Some(format!(
                        "profile {name:?} names scenario {scenario:?}, which does not exist"
                    ));
                }
                if self.asks_one_url(profile.kind, scenario) {
                    return Some(format!(
                        "profile {name:?} asks one URL only: give it a scenario without variants in place of {scenario:?}"
                    ));
                }
                if let Some(what) = missing_load(profile, scenario, mode) {
                    return Some(format!("profile {name:?} needs {what}"));
                }
            }
            for target in profile.targets.get(mode).into_iter().flatten() {
                if self.target(target).is_none() {
                    return Some(format!(
                        "profile {name:?} names target {target:?}, which does not exist"
                    ));
                }
            }
            let least = profile.warm_up_seconds.get(mode).copied().unwrap_or(0.0);
            let most = profile.warm_up_at_most.get(mode).copied();
            if most.is_some_and(|most| most < least) {
                return Some(format!(
                    "profile {name:?}: warm_up_at_most is below warm_up_seconds"
                ));
            }
            if profile.blocks.get(mode).is_none_or(|&blocks| blocks == 0) {
                return Some(format!("profile {name:?} needs a number of blocks"));
            }
        }
        None
    }

    /// Whether this kind of load cannot alternate between the requests that `scenario` has.
    fn asks_one_url(&self, kind: ProfileKind, scenario: &str) -> bool {
        let saturating = matches!(kind, ProfileKind::Capacity | ProfileKind::OriginalClosed);
        saturating
            && self
                .scenario(scenario)
                .is_some_and(|scenario| !scenario.variants.is_empty())
    }

    /// The services that `target` needs, those they need in turn first.
    pub fn services_of(&self, target: &super::Target) -> Vec<&str> {
        let mut ordered = Vec::new();
        let texts = texts(&target.command, target.env.values());
        for name in named_in(self.services.keys(), &texts) {
            self.add_service(name, &mut Vec::new(), &mut ordered);
        }
        ordered
    }

    fn add_service<'a>(
        &'a self,
        name: &'a str,
        needing: &mut Vec<&'a str>,
        ordered: &mut Vec<&'a str>,
    ) {
        // Services that need each other in a circle keep their braces, and fail by a message of their own.
        if ordered.contains(&name) || needing.contains(&name) {
            return;
        }
        needing.push(name);
        for needed in self.needed_by(&self.services[name]) {
            self.add_service(needed, needing, ordered);
        }
        needing.pop();
        ordered.push(name);
    }

    fn needed_by(&self, service: &Service) -> Vec<&str> {
        named_in(
            self.services.keys(),
            &texts(&service.command, service.env.values()),
        )
    }
}

fn texts<'a>(command: &'a [String], env: impl Iterator<Item = &'a String>) -> Vec<&'a str> {
    command.iter().chain(env).map(String::as_str).collect()
}

fn missing_load(profile: &super::Profile, scenario: &str, mode: Mode) -> Option<String> {
    let rate = || {
        profile
            .rates
            .get(scenario)
            .is_none_or(|&rate| rate <= 0.0)
            .then(|| format!("a rate for {scenario:?} above 0"))
    };
    let seconds = || {
        profile
            .seconds
            .get(mode)
            .is_none_or(|&seconds| seconds <= 0.0)
            .then(|| "seconds above 0".to_owned())
    };
    match profile.kind {
        ProfileKind::OriginalK6 | ProfileKind::FixedRate | ProfileKind::Soak => {
            rate().or_else(seconds)
        }
        ProfileKind::OriginalClosed => (!profile.requests.contains_key(scenario))
            .then(|| format!("a number of requests for {scenario:?}")),
        ProfileKind::Capacity => profile
            .ladder
            .is_empty()
            .then(|| "a ladder of connections".to_owned())
            .or_else(|| {
                profile
                    .slo_p99_ms
                    .is_none()
                    .then(|| "slo_p99_ms".to_owned())
            })
            .or_else(seconds),
        ProfileKind::ColdStart => None,
    }
}
