//! A name under which something is measured: a target of bench.toml, its twin, or a server that is none of ours.

use std::collections::BTreeMap;

use crate::build_times::BuildTimes;
use crate::config::{Config, Target};
use crate::http::Origin;
use crate::inventory;
use crate::loc;
use crate::programs;
use crate::results::{self, TargetKind};

#[derive(Clone, Debug)]
pub struct Contestant<'a> {
    pub name: String,
    pub twin_of: Option<String>,
    pub subject: Subject<'a>,
}

#[derive(Clone, Debug)]
pub enum Subject<'a> {
    Managed(&'a Target),
    /// Runs already, without limits, and is never stopped.
    Unmanaged(Origin),
}

impl<'a> Contestant<'a> {
    /// Targets and twins of bench.toml in its order, then the servers given by URL.
    pub fn all(config: &'a Config, unmanaged: &[(String, Origin)]) -> Vec<Self> {
        let targets = config.targets.iter().map(|target| Self {
            name: target.name.clone(),
            twin_of: None,
            subject: Subject::Managed(target),
        });
        let twins = config.twins.iter().filter_map(|twin| {
            Some(Self {
                name: twin.name.clone(),
                twin_of: Some(twin.of.clone()),
                subject: Subject::Managed(config.target(&twin.of)?),
            })
        });
        let unmanaged = unmanaged.iter().map(|(name, origin)| Self {
            name: name.clone(),
            twin_of: None,
            subject: Subject::Unmanaged(origin.clone()),
        });
        targets.chain(twins).chain(unmanaged).collect()
    }

    /// Whether the contract suite is asked of it: a twin's answers are those of its other name.
    pub fn is_checked(&self) -> bool {
        match &self.subject {
            Subject::Managed(target) => target.contract && self.twin_of.is_none(),
            Subject::Unmanaged(_) => false,
        }
    }

    pub fn takes_part_in(&self, scenario: &str) -> bool {
        match &self.subject {
            Subject::Managed(target) => target
                .scenarios
                .as_ref()
                .is_none_or(|scenarios| scenarios.iter().any(|name| name == scenario)),
            Subject::Unmanaged(_) => true,
        }
    }

    /// What the report says of it.
    pub fn described(&self, config: &Config) -> results::Target {
        match &self.subject {
            Subject::Managed(target) => {
                let program = programs::of_target(config, target);
                let mut disclosures = inventory::disclosures(config, target);
                let lines_of_code = match target.sources.is_empty() {
                    true => None,
                    false => loc::count(&config.dir, &target.sources)
                        .inspect_err(|error| {
                            disclosures.push(results::Fact {
                                name: "lines of code".into(),
                                value: format!("not counted: {error}"),
                            });
                        })
                        .ok(),
                };
                let built = BuildTimes::read(&config.dir).get(&target.name).cloned();
                if let Some(built) = &built {
                    disclosures.push(results::Fact {
                        name: "build time".into(),
                        value: format!("measured {} on {} CPUs", built.measured, built.cpus),
                    });
                }
                results::Target {
                    name: self.name.clone(),
                    description: target.description.clone(),
                    kind: target.kind,
                    twin_of: self.twin_of.clone(),
                    missing: program.as_ref().err().map(ToString::to_string),
                    command: target.command.clone(),
                    env: target.env.clone(),
                    managed: true,
                    url: None,
                    artifacts: program
                        .map(|program| inventory::artifacts(config, target, &program))
                        .unwrap_or_default(),
                    contract: target.contract,
                    lines_of_code,
                    build_seconds: built.map(|built| built.seconds),
                    // Counted when the run begins: a package manager takes its time.
                    dependencies: None,
                    disclosures,
                }
            }
            Subject::Unmanaged(origin) => results::Target {
                name: self.name.clone(),
                description: format!("a server at {origin} that was not started by this run"),
                kind: TargetKind::Other,
                twin_of: None,
                missing: None,
                contract: false,
                command: Vec::new(),
                env: BTreeMap::new(),
                managed: false,
                url: Some(origin.to_string()),
                artifacts: Vec::new(),
                lines_of_code: None,
                build_seconds: None,
                dependencies: None,
                disclosures: Vec::new(),
            },
        }
    }
}
