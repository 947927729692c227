//! Processes that a killed run left behind: known by a mark in their environment, and ended when the next run starts.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::{limits, processes};

/// Holds the pid of the lab that started the process.
const MARK: &str = "LEVELFIELD_RUN";

/// Marks what `command` will start, and all that it starts in turn.
pub fn mark(command: &mut Command) {
    command.env(MARK, std::process::id().to_string());
}

/// What was found and ended.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Removed {
    pub processes: usize,
    pub cgroups: usize,
}

/// Ends what runs that are gone have left.
pub fn remove() -> Removed {
    let orphans: Vec<u32> = processes::all()
        .filter(|&pid| maker_of(pid).is_some_and(|maker| !alive(maker)))
        .collect();
    for &pid in &orphans {
        kill(pid);
    }
    Removed {
        processes: orphans.len(),
        cgroups: limits::remove_leftovers(),
    }
}

fn maker_of(pid: u32) -> Option<u32> {
    let environment = fs::read(format!("/proc/{pid}/environ")).ok()?;
    environment.split(|&byte| byte == 0).find_map(|variable| {
        let value = std::str::from_utf8(variable).ok()?.strip_prefix(MARK)?;
        value.strip_prefix('=')?.parse().ok()
    })
}

fn alive(pid: u32) -> bool {
    Path::new(&format!("/proc/{pid}")).exists()
}

#[allow(unsafe_code)]
fn kill(pid: u32) {
    // SAFETY: kill has no memory effects; the process carries our mark, and the run that set it is gone.
    unsafe {
        libc::kill(pid as i32, libc::SIGKILL);
    }
}
