//! The keys that two runs must share for their figures to mean the same.

use crate::results::{CpuMode, Profile, Results, Scenario};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    pub key: String,
    pub old: String,
    pub new: String,
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(
            f,
            "{}: {} in the old run, {} in the new",
            self.key, self.old, self.new
        )
    }
}

/// Machine, limits and generators of the whole run, and the load of each profile that both have.
pub fn differences(old: &Results, new: &Results) -> Vec<Difference> {
    let mut differences = between("", &of_run(old), &of_run(new));
    for profile in &new.plan.profiles {
        let Some(before) = old.profile(&profile.name) else {
            continue;
        };
        let place = format!("{}: ", profile.name);
        differences.extend(between(&place, &of_profile(before), &of_profile(profile)));
        for scenario in &profile.scenarios {
            let same = |other: &&Scenario| other.name == scenario.name;
            let Some(before) = before.scenarios.iter().find(same) else {
                continue;
            };
            let place = format!("{} {}: ", profile.name, scenario.name);
            differences.extend(between(
                &place,
                &of_scenario(before),
                &of_scenario(scenario),
            ));
        }
    }
    differences
}

type Keys = Vec<(String, String)>;

fn of_run(results: &Results) -> Keys {
    let machine = &results.environment.machine;
    let limits = &results.environment.limits;
    let mut keys = vec![
        ("CPU model".into(), machine.cpu_model.clone()),
        ("logical CPUs".into(), machine.logical_cpus.to_string()),
        ("architecture".into(), machine.architecture.clone()),
        ("limits' backend".into(), limits.backend.clone()),
        ("CPU mode".into(), limits.cpu_mode.name().into()),
        ("CPUs".into(), limits.cpus.to_string()),
        ("memory limit".into(), limits.memory_bytes.to_string()),
    ];
    let used = |name: &str| {
        results
            .plan
            .profiles
            .iter()
            .any(|profile| profile.generator == name)
    };
    let generators = results
        .environment
        .programs
        .iter()
        .filter(|program| used(&program.name));
    keys.extend(generators.map(|p| (format!("version of {}", p.name), p.version.clone())));
    keys
}

fn of_profile(profile: &Profile) -> Keys {
    vec![
        ("generator".into(), profile.generator.clone()),
        ("keep-alive".into(), profile.keep_alive.to_string()),
        ("seconds".into(), shown(profile.seconds)),
        ("connections".into(), shown(profile.connections)),
        (
            "CPU mode".into(),
            shown(profile.cpu_mode.map(CpuMode::name)),
        ),
    ]
}

fn of_scenario(scenario: &Scenario) -> Keys {
    vec![
        ("request".into(), scenario.request.clone()),
        ("rate".into(), shown(scenario.rate)),
        ("requests".into(), shown(scenario.requests)),
        ("p99 limit".into(), shown(scenario.slo_p99_ms)),
    ]
}

/// Where both have a key and differ in it.
fn between(place: &str, old: &Keys, new: &Keys) -> Vec<Difference> {
    let differing = |(key, new): &(String, String)| {
        let (_, old) = old.iter().find(|(other, _)| other == key)?;
        (old != new).then(|| Difference {
            key: format!("{place}{key}"),
            old: old.clone(),
            new: new.clone(),
        })
    };
    new.iter().filter_map(differing).collect()
}

fn shown<T: std::fmt::Display>(value: Option<T>) -> String {
    value.map_or("unset".into(), |value| value.to_string())
}
