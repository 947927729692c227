//! cgroup v2, where this process's own group was delegated to it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::cgroup::{Group, PREFIX, mount_point, own_path, stat, write};
use super::{
    Backend, Confined, Confinement, Cpu, CpuSet, PERIOD_US, Spec, Usage, pin, unique_name,
};

const CONTROLLERS: [&str; 3] = ["cpu", "cpuset", "memory"];

pub struct CgroupV2 {
    /// Has the controllers enabled for its children, and no processes of its own.
    parent: PathBuf,
    /// Where this process waits meanwhile.
    leaf: Option<PathBuf>,
}

impl CgroupV2 {
    /// Moves this process into a leaf of its own group, since a group with processes cannot give controllers to its
    /// children. `None` where that is not allowed, or where another process lives in the group.
    pub fn detect() -> Option<Self> {
        let own = own_path(None)?;
        let parent = mount_point(None)?.join(own.trim_start_matches('/'));
        let offered = fs::read_to_string(parent.join("cgroup.controllers")).ok()?;
        if !CONTROLLERS
            .iter()
            .all(|one| offered.split_whitespace().any(|it| it == *one))
        {
            return None;
        }
        let leaf = parent.join(format!("{PREFIX}{}-lab", std::process::id()));
        fs::create_dir(&leaf).ok()?;
        let backend = Self {
            parent,
            leaf: Some(leaf.clone()),
        };
        // Where this fails, dropping the backend undoes what was done.
        write(&leaf, "cgroup.procs", std::process::id()).ok()?;
        backend.enable('+').ok()?;
        Some(backend)
    }

    /// A group whose children may be limited.
    pub fn at(parent: &Path) -> Self {
        Self {
            parent: parent.to_owned(),
            leaf: None,
        }
    }

    /// Gives the controllers to the children, with '+', or takes them back, with '-'.
    fn enable(&self, sign: char) -> io::Result<()> {
        let controllers = CONTROLLERS.map(|one| format!("{sign}{one}")).join(" ");
        write(&self.parent, "cgroup.subtree_control", controllers)
    }
}

impl Drop for CgroupV2 {
    /// Back to where this process came from. What cannot be undone is an empty group, which the next run removes.
    fn drop(&mut self) {
        if let Some(leaf) = &self.leaf {
            let _ = self.enable('-');
            let _ = write(&self.parent, "cgroup.procs", std::process::id());
            let _ = fs::remove_dir(leaf);
        }
    }
}

impl Backend for CgroupV2 {
    fn name(&self) -> &'static str {
        "cgroup v2"
    }

    fn confine(&self, spec: &Spec) -> io::Result<Confinement> {
        let dir = self.parent.join(unique_name());
        let group = Group::create(vec![dir.clone()])?;
        match &spec.cpu {
            Cpu::Pin(cpus) => write(&dir, "cpuset.cpus", cpus)?,
            Cpu::Quota(_) => {
                let quota = spec.cpu.quota_us().unwrap_or(PERIOD_US);
                write(&dir, "cpu.max", format!("{quota} {PERIOD_US}"))?;
            }
        }
        write(&dir, "memory.max", spec.memory_bytes)?;
        // Absent where swap is not accounted.
        if dir.join("memory.swap.max").exists() {
            write(&dir, "memory.swap.max", 0)?;
        }
        Ok(Box::new(Inside {
            group,
            affinity: spec.cpu.affinity(),
            dir,
        }))
    }
}

struct Inside {
    group: Group,
    affinity: CpuSet,
    dir: PathBuf,
}

impl Confined for Inside {
    fn enter(&self, command: &mut Command) {
        self.group.enter(command);
        pin(command, &self.affinity);
    }

    fn usage(&self, _groups: &[u32]) -> io::Result<Usage> {
        usage_of(&self.dir)
    }
}

/// What a v2 group used.
pub fn usage_of(dir: &Path) -> io::Result<Usage> {
    let microseconds = |key| stat(dir, "cpu.stat", key).map(|us| us as f64 / 1e6);
    Ok(Usage {
        cpu_seconds: microseconds("usage_usec")
            .ok_or_else(|| io::Error::other(format!("no usage in {}/cpu.stat", dir.display())))?,
        throttled_seconds: microseconds("throttled_usec"),
        oom_kills: stat(dir, "memory.events", "oom_kill"),
    })
}

#[cfg(test)]
mod tests {
    use super::{CgroupV2, usage_of};
    use crate::limits::{Backend, Cpu, CpuSet, Spec};

    /// A directory stands in for the file system, which is not on every machine: what is written is what counts.
    #[test]
    fn the_limits_are_written_as_the_kernel_reads_them() {
        let parent = tempfile::tempdir().unwrap();
        let backend = CgroupV2::at(parent.path());
        let read = |cpu: Cpu| {
            let spec = Spec {
                cpu,
                memory_bytes: 512 << 20,
            };
            let confinement = backend.confine(&spec).unwrap();
            let dir = std::fs::read_dir(parent.path())
                .unwrap()
                .next()
                .unwrap()
                .unwrap()
                .path();
            let file = |name: &str| std::fs::read_to_string(dir.join(name)).ok();
            let written = (file("cpuset.cpus"), file("cpu.max"), file("memory.max"));
            std::fs::remove_dir_all(&dir).unwrap(); // a real cgroup's files go with its directory
            drop(confinement);
            written
        };
        assert_eq!(
            read(Cpu::Pin(CpuSet::new([2, 3]))),
            (Some("2-3".into()), None, Some("536870912".into()))
        );
        assert_eq!(
            read(Cpu::Quota(1.5)),
            (None, Some("150000 100000".into()), Some("536870912".into()))
        );
    }

    #[test]
    fn usage_is_read_from_the_kernels_files() {
        let dir = tempfile::tempdir().unwrap();
        let stat = "usage_usec 2500000\nuser_usec 1\nnr_periods 9\nthrottled_usec 125000\n";
        std::fs::write(dir.path().join("cpu.stat"), stat).unwrap();
        std::fs::write(
            dir.path().join("memory.events"),
            "low 0\noom 2\noom_kill 1\n",
        )
        .unwrap();
        let usage = usage_of(dir.path()).unwrap();
        assert_eq!(usage.cpu_seconds, 2.5);
        assert_eq!(usage.throttled_seconds, Some(0.125));
        assert_eq!(usage.oom_kills, Some(1));
        std::fs::write(dir.path().join("cpu.stat"), "").unwrap();
        assert!(usage_of(dir.path()).is_err());
    }
}
