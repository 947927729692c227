//! Equal limits for every server under test: the best that this machine offers, and its name in the report.

mod affinity;
mod cgroup;
mod cgroup_v1;
mod cgroup_v2;
mod cpu_set;
mod systemd;

use std::io;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

pub use affinity::{Affinity, pin, pin_thread};
pub use cgroup::remove_leftovers;
pub use cgroup_v1::CgroupV1;
pub use cgroup_v2::CgroupV2;
pub use cpu_set::CpuSet;
pub use systemd::Systemd;

/// What a server may use.
#[derive(Clone, Debug, PartialEq)]
pub struct Spec {
    pub cpu: Cpu,
    pub memory_bytes: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Cpu {
    /// These cores and no others.
    Pin(CpuSet),
    /// So many cores' worth of every 100 ms, over all cores: what `docker --cpus` does.
    Quota(f64),
}

/// The CFS period, as docker sets it.
pub const PERIOD_US: u64 = 100_000;

impl Cpu {
    /// The cores that threads may run on. A server is started by a process that is pinned itself, and affinity is
    /// inherited: it must be set anew even where a cgroup limits the cores.
    fn affinity(&self) -> CpuSet {
        match self {
            Self::Pin(cpus) => cpus.clone(),
            Self::Quota(_) => CpuSet::online(),
        }
    }

    fn quota_us(&self) -> Option<u64> {
        match self {
            Self::Pin(_) => None,
            Self::Quota(cpus) => Some((cpus * PERIOD_US as f64).round() as u64),
        }
    }
}

/// A way of limiting processes.
pub trait Backend {
    /// As the report prints it.
    fn name(&self) -> &'static str;

    /// Why its limit is weaker than it sounds, when it is.
    fn weakness(&self) -> Option<&'static str> {
        None
    }

    /// Makes room for one server and the services that belong to it.
    fn confine(&self, spec: &Spec) -> io::Result<Confinement>;
}

/// The limits of one server; what is left inside is killed when this is dropped.
pub type Confinement = Box<dyn Confined>;

pub trait Confined {
    /// Makes the process that `command` will start be confined from its first instruction on.
    fn enter(&self, command: &mut Command);

    /// What was used so far by all that is or was inside; `groups` are the process groups inside that still run.
    fn usage(&self, groups: &[u32]) -> io::Result<Usage>;

    /// The limit, when this process must watch it because the kernel does not.
    fn watched_memory(&self) -> Option<u64> {
        None
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Usage {
    pub cpu_seconds: f64,
    /// Time in which a quota kept runnable threads from running.
    pub throttled_seconds: Option<f64>,
    /// Processes that the kernel killed for memory.
    pub oom_kills: Option<u64>,
}

/// The best backend of this machine.
pub fn best() -> Box<dyn Backend> {
    if let Some(backend) = CgroupV2::detect() {
        return Box::new(backend);
    }
    if let Some(backend) = Systemd::detect() {
        return Box::new(backend);
    }
    if let Some(backend) = CgroupV1::detect() {
        return Box::new(backend);
    }
    Box::new(Affinity)
}

/// Unique on this machine while this process lives, and recognisable as a leftover afterwards.
fn unique_name() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("{}{}-{number}", cgroup::PREFIX, std::process::id())
}
