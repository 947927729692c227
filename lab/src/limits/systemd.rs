//! A transient systemd scope, where this process may not make cgroups but may ask systemd for one.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::cgroup::{mount_point, stat};
use super::cgroup_v2::usage_of;
use super::{Backend, Confined, Confinement, Cpu, Spec, Usage, unique_name};

pub struct Systemd {
    program: PathBuf,
    user: bool,
}

impl Systemd {
    /// Present where systemd is in charge of cgroup v2 and has delegated CPU and memory to whom we run as.
    pub fn detect() -> Option<Self> {
        if !Path::new("/run/systemd/system").is_dir()
            || mount_point(None)? != Path::new("/sys/fs/cgroup")
        {
            return None;
        }
        let program = testbed::tool("systemd-run").ok()?;
        let user = !is_root();
        let tried = testbed::run(
            Command::new(&program)
                .args(scope(user, &unique_name(), &probe()))
                .arg("true"),
            std::time::Duration::from_secs(10),
        );
        matches!(tried, Ok(finished) if finished.status.success()).then_some(Self { program, user })
    }
}

fn probe() -> Spec {
    Spec {
        cpu: Cpu::Quota(1.0),
        memory_bytes: 64 << 20,
    }
}

#[allow(unsafe_code)]
fn is_root() -> bool {
    // SAFETY: geteuid has no effects and cannot fail.
    unsafe { libc::geteuid() == 0 }
}

impl Backend for Systemd {
    fn name(&self) -> &'static str {
        "systemd scope"
    }

    fn weakness(&self) -> Option<&'static str> {
        Some(
            "what runs beside a server, such as a sidecar, has the same limits again instead of a part of them",
        )
    }

    fn confine(&self, spec: &Spec) -> io::Result<Confinement> {
        Ok(Box::new(Inside {
            program: self.program.clone(),
            user: self.user,
            spec: spec.clone(),
        }))
    }
}

struct Inside {
    program: PathBuf,
    user: bool,
    spec: Spec,
}

impl Confined for Inside {
    /// systemd-run replaces itself by the program, so that pid and process group stay those of the command.
    fn enter(&self, command: &mut Command) {
        let mut wrapped = Command::new(&self.program);
        wrapped
            .args(scope(self.user, &unique_name(), &self.spec))
            .arg(command.get_program())
            .args(command.get_args());
        for (key, value) in command.get_envs() {
            match value {
                Some(value) => wrapped.env(key, value),
                None => wrapped.env_remove(key),
            };
        }
        if let Some(dir) = command.get_current_dir() {
            wrapped.current_dir(dir);
        }
        *command = wrapped;
    }

    fn usage(&self, groups: &[u32]) -> io::Result<Usage> {
        let mut sum = Usage::default();
        for group in groups {
            let text = std::fs::read_to_string(format!("/proc/{group}/cgroup"))?;
            let path = text
                .lines()
                .find_map(|line| line.strip_prefix("0::/"))
                .ok_or_else(|| io::Error::other("the server is in no cgroup v2"))?;
            let dir = mount_point(None).unwrap_or_default().join(path);
            let used = usage_of(&dir)?;
            sum.cpu_seconds += used.cpu_seconds;
            sum.throttled_seconds = added(sum.throttled_seconds, used.throttled_seconds);
            sum.oom_kills = added(sum.oom_kills, stat(&dir, "memory.events", "oom_kill"));
        }
        Ok(sum)
    }
}

fn added<T: std::ops::Add<Output = T> + Default>(a: Option<T>, b: Option<T>) -> Option<T> {
    match (a, b) {
        (None, None) => None,
        (a, b) => Some(a.unwrap_or_default() + b.unwrap_or_default()),
    }
}

/// The arguments of systemd-run, up to the program.
fn scope(user: bool, unit: &str, spec: &Spec) -> Vec<String> {
    let mut args: Vec<String> = ["--scope", "--quiet", "--collect"]
        .map(String::from)
        .to_vec();
    if user {
        args.push("--user".into());
    }
    args.push(format!("--unit={unit}"));
    let mut property = |value: String| args.extend(["--property".into(), value]);
    match &spec.cpu {
        Cpu::Pin(cpus) => property(format!("AllowedCPUs={cpus}")),
        Cpu::Quota(cpus) => property(format!("CPUQuota={:.0}%", cpus * 100.0)),
    }
    property(format!("MemoryMax={}", spec.memory_bytes));
    property("MemorySwapMax=0".into());
    args.push("--".into());
    args
}

#[cfg(test)]
mod tests {
    use super::scope;
    use crate::limits::{Cpu, CpuSet, Spec};

    #[test]
    fn a_scope_is_asked_for_with_every_limit() {
        let spec = |cpu| Spec {
            cpu,
            memory_bytes: 512 << 20,
        };
        assert_eq!(
            scope(true, "levelfield-1-0", &spec(Cpu::Pin(CpuSet::new([1])))).join(" "),
            "--scope --quiet --collect --user --unit=levelfield-1-0 --property AllowedCPUs=1 \
             --property MemoryMax=536870912 --property MemorySwapMax=0 --"
        );
        assert_eq!(
            scope(false, "levelfield-1-1", &spec(Cpu::Quota(0.5))).join(" "),
            "--scope --quiet --collect --unit=levelfield-1-1 --property CPUQuota=50% \
             --property MemoryMax=536870912 --property MemorySwapMax=0 --"
        );
    }
}
