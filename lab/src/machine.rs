//! Where it runs: what a reader must know of the machine to weigh a figure.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::results::{Environment, Fact, Git, Limits, Machine, Program};

/// Everything but the cautions, which take a second to read.
pub fn environment(root: &Path, limits: Limits) -> Environment {
    Environment {
        machine: machine(),
        limits,
        programs: programs(),
        git: git(root),
        facts: facts(root),
        cautions: Vec::new(),
    }
}

fn machine() -> Machine {
    let cpuinfo = read("/proc/cpuinfo");
    let of_cpu = |key: &str| {
        let line = cpuinfo.lines().find(|line| line.starts_with(key))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    let memory_kb = read("/proc/meminfo").lines().find_map(|line| {
        line.strip_prefix("MemTotal:")?
            .split_whitespace()
            .next()?
            .parse::<u64>()
            .ok()
    });
    let os = read("/etc/os-release").lines().find_map(|line| {
        Some(
            line.strip_prefix("PRETTY_NAME=")?
                .trim_matches('"')
                .to_owned(),
        )
    });
    Machine {
        cpu_model: of_cpu("model name").unwrap_or_else(|| "unknown".into()),
        logical_cpus: cpuinfo
            .lines()
            .filter(|line| line.starts_with("processor"))
            .count() as u32,
        memory_bytes: memory_kb.unwrap_or(0) * 1024,
        kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
        os: os.unwrap_or_else(|| "unknown".into()),
        architecture: std::env::consts::ARCH.to_owned(),
        virtualization: virtualization(&cpuinfo),
    }
}

fn virtualization(cpuinfo: &str) -> Option<String> {
    if Path::new("/.dockerenv").exists() {
        return Some("docker".into());
    }
    let flags = cpuinfo.lines().find(|line| line.starts_with("flags"))?;
    flags
        .split_whitespace()
        .any(|flag| flag == "hypervisor")
        .then(|| "virtual machine".into())
}

fn programs() -> Vec<Program> {
    let mut found = Vec::new();
    for (name, argument) in [("k6", "version"), ("bombardier", "--version")] {
        if let Ok(path) = testbed::tool(name) {
            found.push(Program {
                name: name.to_owned(),
                version: first_line(Command::new(&path).arg(argument))
                    .unwrap_or_else(|| "unknown".into()),
                sha256: fs::read(&path)
                    .ok()
                    .map(|bytes| crate::digest::sha256_hex(&bytes)),
            });
        }
    }
    let store = testbed::mongo::Kind::OURS
        .into_iter()
        .find(|kind| testbed::tool(kind.name()).is_ok());
    if let Some(kind) = store {
        found.push(Program {
            name: kind.name().to_owned(),
            version: testbed::tool(kind.name())
                .ok()
                .and_then(|path| first_line(Command::new(path).arg("--version")))
                .unwrap_or_else(|| "unknown".into()),
            sha256: None,
        });
    }
    found
}

fn first_line(command: &mut Command) -> Option<String> {
    let finished = testbed::run(command, Duration::from_secs(10)).ok()?;
    let text = if finished.stdout.trim().is_empty() {
        finished.stderr
    } else {
        finished.stdout
    };
    Some(
        text.lines()
            .find(|line| !line.trim().is_empty())?
            .trim()
            .to_owned(),
    )
}

fn git(root: &Path) -> Option<Git> {
    let run = |args: &[&str]| {
        let finished = testbed::run(
            Command::new("git").arg("-C").arg(root).args(args),
            Duration::from_secs(10),
        )
        .ok()?;
        finished.status.success().then_some(finished.stdout)
    };
    Some(Git {
        commit: run(&["rev-parse", "HEAD"])?.trim().to_owned(),
        dirty: !run(&["status", "--porcelain"])?.trim().is_empty(),
    })
}

fn facts(root: &Path) -> Vec<Fact> {
    let files = [
        (
            "frequency governor",
            "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
        ),
        ("SMT", "/sys/devices/system/cpu/smt/control"),
        (
            "clock source",
            "/sys/devices/system/clocksource/clocksource0/current_clocksource",
        ),
        (
            "transparent huge pages",
            "/sys/kernel/mm/transparent_hugepage/enabled",
        ),
        ("load averages at the start", "/proc/loadavg"),
    ];
    files
        .into_iter()
        .map(|(name, file)| (name, read(file).trim().to_owned()))
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| Fact {
            name: name.to_owned(),
            value,
        })
        .chain(fact("mitigations", mitigations()))
        .chain(compilers())
        .chain(locked(root))
        .chain(fact(
            "Rust programs built with",
            "the workspace's release profile: opt-level 3, one codegen unit, no debug information"
                .into(),
        ))
        .collect()
}

fn fact(name: &str, value: String) -> Option<Fact> {
    (!value.is_empty()).then(|| Fact {
        name: name.to_owned(),
        value,
    })
}

/// Against what the processor leaks; they cost a system call some of its time.
fn mitigations() -> String {
    let mut found: Vec<String> = fs::read_dir("/sys/devices/system/cpu/vulnerabilities")
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| (entry.file_name(), read(&entry.path().to_string_lossy())))
        .filter(|(_, state)| state.starts_with("Mitigation"))
        .map(|(name, _)| name.to_string_lossy().into_owned())
        .collect();
    found.sort_unstable();
    found.join(", ")
}

/// Those of the languages that builds here are written in.
fn compilers() -> Vec<Fact> {
    let versions = [
        ("rustc", "--version"),
        ("go", "version"),
        ("node", "--version"),
        ("dotnet", "--version"),
    ];
    versions
        .into_iter()
        .filter_map(|(name, argument)| {
            let path = testbed::tool(name).ok()?;
            fact(name, first_line(Command::new(path).arg(argument))?)
        })
        .collect()
}

/// The versions that Cargo.lock gives to what decides how fast the Rust programs are.
fn locked(root: &Path) -> Vec<Fact> {
    let lock = read(&root.join("Cargo.lock").to_string_lossy());
    ["wasmtime", "hyper", "axum", "mongodb", "spin-sdk"]
        .into_iter()
        .filter_map(|name| {
            let (_, after) = lock.split_once(&format!("name = \"{name}\"\nversion = \""))?;
            fact(
                &format!("{name} (Rust)"),
                after.split('"').next()?.to_owned(),
            )
        })
        .collect()
}

pub fn read(file: &str) -> String {
    fs::read_to_string(file).unwrap_or_default()
}

/// RFC 3339, UTC, to the second. After Howard Hinnant's days-to-civil, in whole 400-year eras.
pub fn rfc3339(unix_seconds: u64) -> String {
    let (days, second) = (unix_seconds / 86_400, unix_seconds % 86_400);
    let shifted = days + 719_468; // days since 1 March of year 0
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z",
        second / 3600,
        second / 60 % 60,
        second % 60
    )
}

#[cfg(test)]
mod tests {
    use super::rfc3339;

    #[test]
    fn times_are_written_in_utc() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_868_799, "2000-02-29T23:59:59Z"),
            (951_868_800, "2000-03-01T00:00:00Z"),
            (1_798_761_599, "2026-12-31T23:59:59Z"),
            (4_102_444_800, "2100-01-01T00:00:00Z"),
        ] {
            assert_eq!(rfc3339(seconds), text);
        }
    }
}
