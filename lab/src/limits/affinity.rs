//! No cgroups: cores by affinity, and memory by looking.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use super::{Backend, Confined, Confinement, Cpu, CpuSet, Spec, Usage};
use crate::usage;

pub struct Affinity;

impl Backend for Affinity {
    fn name(&self) -> &'static str {
        "affinity and watchdog"
    }

    fn weakness(&self) -> Option<&'static str> {
        Some("memory is watched, not enforced, and instead of a quota whole cores are pinned")
    }

    fn confine(&self, spec: &Spec) -> io::Result<Confinement> {
        let cpus = match &spec.cpu {
            Cpu::Pin(cpus) => cpus.clone(),
            Cpu::Quota(cpus) => CpuSet::allowed().split(cpus.ceil() as usize).0,
        };
        Ok(Box::new(Inside {
            cpus,
            memory_bytes: spec.memory_bytes,
        }))
    }
}

struct Inside {
    cpus: CpuSet,
    memory_bytes: u64,
}

impl Confined for Inside {
    fn enter(&self, command: &mut Command) {
        pin(command, &self.cpus);
    }

    fn usage(&self, groups: &[u32]) -> io::Result<Usage> {
        Ok(Usage {
            cpu_seconds: groups.iter().map(|&group| usage::cpu_seconds(group)).sum(),
            throttled_seconds: None,
            oom_kills: None,
        })
    }

    fn watched_memory(&self) -> Option<u64> {
        Some(self.memory_bytes)
    }
}

/// Makes the process that `command` starts, and all that it starts, run on these CPUs only.
#[allow(unsafe_code)]
pub fn pin(command: &mut Command, cpus: &CpuSet) {
    let set = kernel_set(cpus);
    // SAFETY: between fork and exec the closure makes one system call on a value that it owns.
    unsafe {
        command.pre_exec(move || {
            let size = std::mem::size_of::<libc::cpu_set_t>();
            match libc::sched_setaffinity(0, size, &raw const set) {
                0 => Ok(()),
                _ => Err(io::Error::last_os_error()),
            }
        });
    }
}

/// Keeps the calling thread, and what it starts from now on, on these CPUs. Where that is not allowed it stays where
/// it was: the foreign-load gate then sees what it costs.
#[allow(unsafe_code)]
pub fn pin_thread(cpus: &CpuSet) {
    let set = kernel_set(cpus);
    // SAFETY: one system call that reads a value of ours.
    unsafe {
        libc::sched_setaffinity(0, std::mem::size_of::<libc::cpu_set_t>(), &raw const set);
    }
}

#[allow(unsafe_code)]
fn kernel_set(cpus: &CpuSet) -> libc::cpu_set_t {
    // SAFETY: an all-zero cpu_set_t is the empty set, and CPU_SET stays inside it: larger numbers are left out.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        for &cpu in cpus.cpus() {
            if (cpu as usize) < libc::CPU_SETSIZE as usize {
                libc::CPU_SET(cpu as usize, &mut set);
            }
        }
        set
    }
}
