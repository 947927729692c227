//! cgroup v1: a directory for each controller.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::cgroup::{Group, mount_point, own_path, stat, write};
use super::{
    Backend, Confined, Confinement, Cpu, CpuSet, PERIOD_US, Spec, Usage, pin, unique_name,
};

pub struct CgroupV1 {
    pub cpu: PathBuf,
    pub cpuacct: PathBuf,
    pub cpuset: PathBuf,
    pub memory: PathBuf,
}

impl CgroupV1 {
    /// Present when all four controllers are mounted and this process may make groups in them.
    pub fn detect() -> Option<Self> {
        let parent = |controller| {
            let mount = mount_point(Some(controller))?;
            let own = own_path(Some(controller))?;
            let dir = mount.join(own.trim_start_matches('/'));
            let probe = dir.join(unique_name());
            fs::create_dir(&probe).ok()?;
            fs::remove_dir(&probe).ok()?;
            Some(dir)
        };
        Some(Self {
            cpu: parent("cpu")?,
            cpuacct: parent("cpuacct")?,
            cpuset: parent("cpuset")?,
            memory: parent("memory")?,
        })
    }
}

impl Backend for CgroupV1 {
    fn name(&self) -> &'static str {
        "cgroup v1"
    }

    fn confine(&self, spec: &Spec) -> io::Result<Confinement> {
        let name = unique_name();
        let [cpu, cpuacct, cpuset, memory] =
            [&self.cpu, &self.cpuacct, &self.cpuset, &self.memory].map(|dir| dir.join(&name));
        // cpu and cpuacct are one directory where they are mounted together.
        let mut dirs = vec![cpu.clone(), cpuset.clone(), memory.clone()];
        if self.cpuacct != self.cpu {
            dirs.push(cpuacct.clone());
        }
        let confined = Inside {
            group: Group::create(dirs)?,
            affinity: spec.cpu.affinity(),
            cpu,
            cpuacct,
            memory,
        };
        set_cpuset(&self.cpuset, &cpuset, &spec.cpu)?;
        if let Some(quota) = spec.cpu.quota_us() {
            write(&confined.cpu, "cpu.cfs_period_us", PERIOD_US)?;
            write(&confined.cpu, "cpu.cfs_quota_us", quota)?;
        }
        write(&confined.memory, "memory.limit_in_bytes", spec.memory_bytes)?;
        // Memory and swap together; the file is absent where swap is not accounted.
        if confined.memory.join("memory.memsw.limit_in_bytes").exists() {
            write(
                &confined.memory,
                "memory.memsw.limit_in_bytes",
                spec.memory_bytes,
            )?;
        }
        Ok(Box::new(confined))
    }
}

/// A new cpuset is empty, and nothing can enter it before it has CPUs and memory nodes.
fn set_cpuset(parent: &Path, dir: &Path, cpu: &Cpu) -> io::Result<()> {
    let inherited = |file: &str| fs::read_to_string(parent.join(file)).map(|s| s.trim().to_owned());
    write(dir, "cpuset.mems", inherited("cpuset.mems")?)?;
    match cpu {
        Cpu::Pin(cpus) => write(dir, "cpuset.cpus", cpus),
        Cpu::Quota(_) => write(dir, "cpuset.cpus", inherited("cpuset.cpus")?),
    }
}

struct Inside {
    group: Group,
    affinity: CpuSet,
    cpu: PathBuf,
    cpuacct: PathBuf,
    memory: PathBuf,
}

impl Confined for Inside {
    fn enter(&self, command: &mut Command) {
        self.group.enter(command);
        pin(command, &self.affinity);
    }

    fn usage(&self, _groups: &[u32]) -> io::Result<Usage> {
        let nanoseconds: u64 = fs::read_to_string(self.cpuacct.join("cpuacct.usage"))?
            .trim()
            .parse()
            .map_err(io::Error::other)?;
        Ok(Usage {
            cpu_seconds: nanoseconds as f64 / 1e9,
            throttled_seconds: stat(&self.cpu, "cpu.stat", "throttled_time")
                .map(|nanoseconds| nanoseconds as f64 / 1e9),
            oom_kills: stat(&self.memory, "memory.oom_control", "oom_kill"),
        })
    }
}
