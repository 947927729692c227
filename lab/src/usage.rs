//! What processes use, as /proc says it: CPU, resident memory, context switches.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::processes::{self, members};

/// The CPU time of a process group: its processes, and the children that they have waited for.
pub fn cpu_seconds(group: u32) -> f64 {
    let ticks: u64 = members(group)
        .into_iter()
        .map(|pid| ticks_of(pid, 11..15))
        .sum();
    seconds(ticks)
}

/// The CPU time of this process, of all that it started, and of those of them that have ended.
pub fn tree_cpu_seconds() -> f64 {
    let processes: Vec<(u32, u32)> = processes::all()
        .filter_map(|pid| Some((pid, parent_of(pid)?)))
        .collect();
    let mut tree = vec![std::process::id()];
    let mut next = 0;
    while let Some(&parent) = tree.get(next) {
        tree.extend(
            processes
                .iter()
                .filter(|(_, of)| *of == parent)
                .map(|(pid, _)| pid),
        );
        next += 1;
    }
    seconds(tree.into_iter().map(|pid| ticks_of(pid, 11..15)).sum())
}

fn parent_of(pid: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?
        .1
        .split_whitespace()
        .nth(1)?
        .parse()
        .ok()
}

fn ticks_of(pid: u32, columns: std::ops::Range<usize>) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // After the name in parentheses: utime, stime, cutime, cstime are columns 11 to 14.
    let after_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let words: Vec<&str> = after_name.split_whitespace().collect();
    let wanted = words.get(columns).unwrap_or_default();
    wanted
        .iter()
        .filter_map(|word| word.parse::<u64>().ok())
        .sum()
}

/// Linux reports CPU time to programs in hundredths of a second (USER_HZ) on every architecture we run on.
pub fn seconds(ticks: u64) -> f64 {
    ticks as f64 / 100.0
}

fn field(text: &str, name: &str) -> u64 {
    text.lines()
        .find_map(|line| {
            line.strip_prefix(name)?
                .split_whitespace()
                .next()?
                .parse()
                .ok()
        })
        .unwrap_or(0)
}

/// Resident memory of a process, in bytes.
fn resident(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    field(&status, "VmRSS:") * 1024
}

/// Voluntary and involuntary switches of all threads that live now.
pub fn context_switches(groups: &[u32]) -> u64 {
    let pids = groups.iter().flat_map(|&group| members(group));
    pids.flat_map(|pid| {
        fs::read_dir(format!("/proc/{pid}/task"))
            .into_iter()
            .flatten()
            .flatten()
    })
    .map(|task| {
        let status = fs::read_to_string(task.path().join("status")).unwrap_or_default();
        field(&status, "voluntary_ctxt_switches:") + field(&status, "nonvoluntary_ctxt_switches:")
    })
    .sum()
}

/// Samples the memory of process groups while a trial runs, and ends them where a limit must be watched.
pub struct MemorySampler {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Memory>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Memory {
    pub peak_bytes: u64,
    /// The median of the second half's samples.
    pub steady_bytes: u64,
    /// True when the watched limit was passed and the server was ended for it.
    pub over_limit: bool,
    /// How each second since the start went.
    pub seconds: Vec<Sampled>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sampled {
    /// CPU time used in this second: 1.0 is a core.
    pub cpu_cores: f64,
    pub rss_bytes: u64,
}

impl MemorySampler {
    const EVERY: Duration = Duration::from_millis(50);

    pub fn start(groups: Vec<u32>, limit: Option<u64>) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stopping = Arc::clone(&stop);
        let thread = std::thread::spawn(move || sample(&groups, limit, &stopping));
        Self { stop, thread }
    }

    pub fn finish(self) -> Memory {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap_or_default()
    }
}

fn sample(groups: &[u32], limit: Option<u64>, stop: &AtomicBool) -> Memory {
    let began = Instant::now();
    let cpu = || groups.iter().map(|&group| cpu_seconds(group)).sum::<f64>();
    let mut cpu_before = cpu();
    let mut samples = Vec::new();
    let mut seconds = Vec::new();
    let mut over_limit = false;
    // Groups change rarely, and finding their members reads all of /proc.
    let mut pids = Vec::new();
    let mut round = 0_u32;
    while !stop.load(Ordering::Relaxed) {
        if round.is_multiple_of(10) {
            pids = groups.iter().flat_map(|&group| members(group)).collect();
        }
        round += 1;
        let bytes: u64 = pids.iter().map(|&pid| resident(pid)).sum();
        samples.push(bytes);
        if limit.is_some_and(|limit| bytes > limit) {
            over_limit = true;
            groups.iter().for_each(|&group| end(group));
        }
        if began.elapsed().as_secs() > seconds.len() as u64 {
            let cpu_now = cpu();
            seconds.push(Sampled {
                cpu_cores: cpu_now - cpu_before,
                rss_bytes: bytes,
            });
            cpu_before = cpu_now;
        }
        std::thread::sleep(MemorySampler::EVERY);
    }
    Memory {
        over_limit,
        seconds,
        ..summarised(&samples)
    }
}

fn summarised(samples: &[u64]) -> Memory {
    let mut second_half = samples[samples.len() / 2..].to_vec();
    second_half.sort_unstable();
    Memory {
        peak_bytes: samples.iter().copied().max().unwrap_or(0),
        steady_bytes: second_half.get(second_half.len() / 2).copied().unwrap_or(0),
        ..Memory::default()
    }
}

#[allow(unsafe_code)]
fn end(group: u32) {
    // SAFETY: kill has no memory effects; the group is that of a child of ours that has not been waited for.
    unsafe {
        libc::kill(-(group as i32), libc::SIGKILL);
    }
}

#[cfg(test)]
mod tests {
    use super::{Memory, context_switches, summarised, tree_cpu_seconds};

    #[test]
    fn the_steady_memory_is_that_of_the_second_half() {
        let memory = summarised(&[900, 1, 1, 5, 3, 4]);
        assert_eq!(
            memory,
            Memory {
                peak_bytes: 900,
                steady_bytes: 4,
                ..Memory::default()
            }
        );
        assert_eq!(summarised(&[]), Memory::default());
    }

    #[test]
    fn this_process_is_seen_to_use_something() {
        let began = std::time::Instant::now();
        while began.elapsed().as_millis() < 100 {}
        assert!(tree_cpu_seconds() > 0.0);
        let group = std::fs::read_to_string("/proc/self/stat").unwrap();
        let group: u32 = group
            .rsplit_once(')')
            .unwrap()
            .1
            .split_whitespace()
            .nth(2)
            .unwrap()
            .parse()
            .unwrap();
        assert!(context_switches(&[group]) > 0);
    }
}
