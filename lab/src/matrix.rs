//! The contract suite against many builds: each is started, asked in every state of the store, and stopped.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use crate::check::{self, Interrupted, StoreState, Suite};
use crate::config::{Config, Target};
use crate::interrupt::Interrupt;
use crate::programs::{self, Lack};
use crate::results::{CaseOutcome, CaseResult, ContractCheck, TargetKind};
use crate::server::{LaunchError, Probe, Server};
use crate::services::Services;

const START_WITHIN: Duration = Duration::from_secs(30);

/// One row of the matrix.
pub struct Row {
    pub target: String,
    pub outcome: RowOutcome,
}

pub enum RowOutcome {
    Checked(ContractCheck),
    /// It is not on this machine: no failure.
    Lacks(Lack),
    /// It is there, and did not start.
    Broken(String),
}

/// The targets that a person means, each once and in bench.toml's order: `native`, `component`, `all`, or names.
pub fn select<'a>(config: &'a Config, names: &[String]) -> anyhow::Result<Vec<&'a Target>> {
    let means = |name: &str, target: &Target| match name {
        "all" => true,
        "native" => target.kind == TargetKind::Native,
        "component" => target.kind == TargetKind::Component || target.name == name,
        _ => target.name == name,
    };
    for name in names {
        if !config.targets.iter().any(|target| means(name, target)) {
            let known: Vec<&str> = config
                .targets
                .iter()
                .map(|target| target.name.as_str())
                .collect();
            anyhow::bail!(
                "there is no target {name:?}; there are native, component, all, {}",
                known.join(", ")
            );
        }
    }
    let meant = |target: &&Target| names.iter().any(|name| means(name, target));
    Ok(config.targets.iter().filter(meant).collect())
}

/// Checks one target in all states. `services` keeps what outlives it, such as the store; the store's state is not the
/// suite's to say.
pub fn check_target(
    config: &Config,
    target: &Target,
    services: &mut Services,
    suite: &Suite<'_>,
) -> Result<Row, Interrupted> {
    let outcome = match programs::of_target(config, target) {
        Err(lack) => RowOutcome::Lacks(lack),
        Ok(_) => match states(config, target, services, suite) {
            Ok(cases) => RowOutcome::Checked(ContractCheck {
                target: target.name.clone(),
                cases,
            }),
            Err(error) if error.is::<Interrupted>() => return Err(Interrupted),
            Err(error) => match error.downcast_ref::<testbed::Error>() {
                Some(testbed::Error::Missing(missing)) => {
                    RowOutcome::Lacks(Lack::Program(missing.what.clone()))
                }
                _ => RowOutcome::Broken(format!("{error:#}")),
            },
        },
    };
    Ok(Row {
        target: target.name.clone(),
        outcome,
    })
}

/// The store up; then each service on the way to it unreachable, and stalled.
fn states(
    config: &Config,
    target: &Target,
    services: &mut Services,
    suite: &Suite<'_>,
) -> anyhow::Result<Vec<CaseResult>> {
    let needed = config.services_of(target);
    services.start(config, &needed, None)?;
    let up = Suite {
        store: StoreState::Up,
        only_about_store: false,
        ..*suite
    };
    let mut results = in_state(config, target, services, &up, "")?;
    services.stop_those_with_target(config);
    let on_the_way: Vec<&str> = needed
        .iter()
        .copied()
        .filter(|name| config.services[*name].store || config.services[*name].with_target)
        .collect();
    for state in [StoreState::Unreachable, StoreState::Stalled] {
        for &broken in &on_the_way {
            let mut own = Services::default();
            own.start_broken(config, broken, state, services)?;
            own.start(config, &needed, None)?;
            let label = format!("{broken} {}", state.name());
            // Only the cases about the store are asked: the others do not look at it.
            let broken = Suite {
                store: state,
                only_about_store: true,
                ..*suite
            };
            results.extend(in_state(config, target, &own, &broken, &label)?);
        }
    }
    Ok(results)
}

fn in_state(
    config: &Config,
    target: &Target,
    services: &Services,
    suite: &Suite<'_>,
    label: &str,
) -> anyhow::Result<Vec<CaseResult>> {
    let mut target = target.clone();
    target
        .env
        .insert(contract::YEAR_VARIABLE.into(), suite.year.to_string());
    let probe = Probe::of(&target);
    let server =
        Server::launch(config, &target, services, None, &probe, START_WITHIN).map_err(|error| {
            match error {
                LaunchError::Start(error) => anyhow::Error::from(error),
                other => anyhow::Error::from(other),
            }
        })?;
    for stall in services.about_to_fall_silent() {
        reach_store(&server, suite.interrupt)?;
        stall.fall_silent();
    }
    let checked = check::check(&server.origin, suite)?;
    server.stop();
    let mut results = checked.into_results(&target.name).cases;
    if !label.is_empty() {
        for result in &mut results {
            result.case = format!("{} ({label})", result.case);
        }
    }
    Ok(results)
}

/// Asks for a user until there is one: from then on the target knows its store.
fn reach_store(server: &Server, interrupt: &Interrupt) -> anyhow::Result<()> {
    let url = format!("http://{}/users/1", server.origin.authority);
    let deadline = Instant::now() + START_WITHIN;
    while !testbed::http::get(&url).is_ok_and(|answer| answer.status == 200) {
        anyhow::ensure!(!interrupt.is_set(), Interrupted);
        anyhow::ensure!(
            Instant::now() < deadline,
            "no user from {url} with the store up"
        );
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}

/// A line for each build, a column for each group of cases; under it what differs and what was not run.
pub fn print(out: &mut impl Write, rows: &[Row]) -> io::Result<()> {
    let checks = || rows.iter().filter_map(Row::check);
    // Each case's title begins with its group; the order is that of the suite.
    let mut groups: Vec<&str> = Vec::new();
    for case in checks().flat_map(|check| &check.cases) {
        let group = case.case.split(": ").next().unwrap_or_default();
        if !groups.contains(&group) {
            groups.push(group);
        }
    }
    let width = rows
        .iter()
        .map(|row| row.target.len())
        .max()
        .unwrap_or(0)
        .max(8);
    write!(out, "{:<width$}", "")?;
    for group in &groups {
        write!(out, "  {group:>11}")?;
    }
    writeln!(out)?;
    for check in checks() {
        write!(out, "{:<width$}", check.target)?;
        for group in &groups {
            let of_group = |result: &&CaseResult| result.case.starts_with(&format!("{group}: "));
            let total = check.cases.iter().filter(of_group).count();
            let passed = check
                .cases
                .iter()
                .filter(of_group)
                .filter(|result| result.outcome == CaseOutcome::Pass)
                .count();
            let cell = match passed == total {
                true => format!("{total} ok"),
                false => format!("{} FAIL", total - passed),
            };
            write!(out, "  {cell:>11}")?;
        }
        writeln!(out)?;
    }
    for row in rows {
        if let RowOutcome::Lacks(lack) = &row.outcome {
            match lack {
                Lack::Program(program) => {
                    writeln!(out, "not run: {} (missing {program})", row.target)?;
                }
                Lack::Toolchain(_) | Lack::NotBuilt { .. } => {
                    writeln!(out, "{}: {lack}", row.target)?;
                }
            }
        }
    }
    for row in rows {
        match &row.outcome {
            RowOutcome::Checked(check) => print_failures(out, check)?,
            RowOutcome::Broken(why) => writeln!(out, "\nFAIL  {}: {why}", row.target)?,
            RowOutcome::Lacks(_) => {}
        }
    }
    Ok(())
}

fn print_failures(out: &mut impl Write, check: &ContractCheck) -> io::Result<()> {
    for result in &check.cases {
        if let CaseOutcome::Fail { difference } = &result.outcome {
            writeln!(out, "\nFAIL  {}  {}", check.target, result.case)?;
            for line in difference.lines() {
                writeln!(out, "        {line}")?;
            }
        }
    }
    Ok(())
}

impl Row {
    pub fn check(&self) -> Option<&ContractCheck> {
        match &self.outcome {
            RowOutcome::Checked(check) => Some(check),
            _ => None,
        }
    }

    pub fn passed(&self) -> bool {
        match &self.outcome {
            RowOutcome::Checked(check) => check
                .cases
                .iter()
                .all(|result| result.outcome == CaseOutcome::Pass),
            RowOutcome::Lacks(_) => true,
            RowOutcome::Broken(_) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::select;
    use crate::config::Config;

    fn selected(names: &[&str]) -> Vec<String> {
        let config = Config::load(Some(&testbed::repo_root().join("bench.toml"))).unwrap();
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        let targets = select(&config, &names).unwrap();
        targets
            .into_iter()
            .map(|target| target.name.clone())
            .collect()
    }

    #[test]
    fn a_kind_or_a_name_means_each_target_once() {
        let components = selected(&["component"]);
        assert!(components.contains(&"component".into()) && components.contains(&"spin".into()));
        assert!(!components.contains(&"rust".into()));
        assert_eq!(selected(&["wasi02", "component"]), components);
        assert_eq!(selected(&["rust", "gin", "rust"]), ["rust", "gin"]);
        assert!(selected(&["all"]).len() > selected(&["native"]).len());
    }

    #[test]
    fn an_unknown_name_is_refused_with_those_that_exist() {
        let config = Config::load(Some(&testbed::repo_root().join("bench.toml"))).unwrap();
        let refused = select(&config, &["nobody".into()]).unwrap_err().to_string();
        assert!(
            refused.contains("\"nobody\"") && refused.contains("nethttp"),
            "{refused}"
        );
    }
}
