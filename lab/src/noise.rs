//! How much of the machine was used by others while a trial ran.

use std::fs;
use std::time::Instant;

use crate::usage;

/// The counters at one moment.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    pub at: Instant,
    pub cpu: CpuTimes,
    /// Time in which at least one task waited for a CPU; absent where the kernel does not say.
    pub pressure_us: Option<u64>,
    /// CPU time of this process and of all that it started.
    pub ours_seconds: f64,
}

/// The first line of /proc/stat, in hundredths of a second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CpuTimes {
    pub busy: u64,
    pub steal: u64,
    pub total: u64,
}

/// What lies between two readings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    /// CPU time per second used by programs that are not ours: 0.1 is a tenth of a core.
    pub foreign_cores: f64,
    pub steal_share: f64,
    pub pressure_share: Option<f64>,
}

impl Reading {
    pub fn now() -> Self {
        Self {
            at: Instant::now(),
            cpu: CpuTimes::parse(&fs::read_to_string("/proc/stat").unwrap_or_default()),
            pressure_us: pressure(&fs::read_to_string("/proc/pressure/cpu").unwrap_or_default()),
            ours_seconds: usage::tree_cpu_seconds(),
        }
    }
}

impl Noise {
    pub fn between(before: &Reading, after: &Reading) -> Self {
        let seconds = (after.at - before.at).as_secs_f64().max(1e-3);
        let busy = usage::seconds(after.cpu.busy.saturating_sub(before.cpu.busy));
        let ours = after.ours_seconds - before.ours_seconds;
        let total = after.cpu.total.saturating_sub(before.cpu.total).max(1);
        Self {
            foreign_cores: ((busy - ours) / seconds).max(0.0),
            steal_share: after.cpu.steal.saturating_sub(before.cpu.steal) as f64 / total as f64,
            pressure_share: before
                .pressure_us
                .zip(after.pressure_us)
                .map(|(before, after)| after.saturating_sub(before) as f64 / 1e6 / seconds),
        }
    }
}

impl CpuTimes {
    /// user, nice, system, idle, iowait, irq, softirq, steal; guest time is part of user.
    pub fn parse(stat: &str) -> Self {
        let line = stat
            .lines()
            .next()
            .and_then(|line| line.strip_prefix("cpu "))
            .unwrap_or_default();
        let ticks: Vec<u64> = line
            .split_whitespace()
            .filter_map(|word| word.parse().ok())
            .collect();
        let at = |index: usize| ticks.get(index).copied().unwrap_or(0);
        let idle = at(3) + at(4);
        Self {
            busy: at(0) + at(1) + at(2) + at(5) + at(6),
            steal: at(7),
            total: at(0) + at(1) + at(2) + at(5) + at(6) + at(7) + idle,
        }
    }
}

/// The total of the line "some", in microseconds.
fn pressure(text: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.starts_with("some "))?;
    line.rsplit_once("total=")?.1.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{CpuTimes, Noise, Reading, pressure};

    // Recorded on a machine of two cores, one second apart, while a compiler ran beside us.
    const BEFORE: &str = "cpu  182341 0 24512 411231 1204 0 1932 215 0 0\ncpu0 1 2 3\n";
    const AFTER: &str = "cpu  182461 0 24532 411281 1204 0 1937 220 0 0\ncpu0 1 2 3\n";

    #[test]
    fn recorded_readings_give_the_load_of_others() {
        let now = std::time::Instant::now();
        let before = Reading {
            at: now,
            cpu: CpuTimes::parse(BEFORE),
            pressure_us: pressure(
                "some avg10=27.87 avg60=10.13 avg300=5.60 total=55711953\nfull avg10=0.00 total=0\n",
            ),
            ours_seconds: 10.0,
        };
        let after = Reading {
            at: now + Duration::from_secs(1),
            cpu: CpuTimes::parse(AFTER),
            pressure_us: Some(56_211_953),
            ours_seconds: 10.4,
        };
        let noise = Noise::between(&before, &after);
        assert!(
            (noise.foreign_cores - 1.05).abs() < 1e-9,
            "145 ticks busy, 40 of them ours: {noise:?}"
        );
        assert!(
            (noise.steal_share - 0.025).abs() < 1e-9,
            "5 of 200 ticks: {noise:?}"
        );
        assert!(
            (noise.pressure_share.unwrap() - 0.5).abs() < 1e-9,
            "{noise:?}"
        );
    }

    #[test]
    fn a_kernel_that_says_nothing_gives_no_pressure() {
        assert_eq!(pressure(""), None);
        assert_eq!(CpuTimes::parse(""), CpuTimes::default());
    }

    #[test]
    fn load_of_a_stranger_is_seen_and_our_own_is_not() {
        use std::os::unix::process::CommandExt;
        // A grandchild whose parent is gone belongs to nobody here: it stands for another person's program.
        let spin = "timeout 3 sh -c 'while :; do :; done' &";
        let mut command = std::process::Command::new("sh");
        command.args(["-c", spin]).process_group(0);
        command.status().unwrap();
        std::thread::sleep(Duration::from_millis(200));
        let before = Reading::now();
        std::thread::sleep(Duration::from_millis(1500));
        let foreign = Noise::between(&before, &Reading::now());
        // It shares the cores with whatever else runs; far less than a whole core proves that it was seen.
        assert!(foreign.foreign_cores > 0.1, "{foreign:?}");

        let before = Reading::now();
        let began = std::time::Instant::now();
        let mut own = std::process::Command::new("sh")
            .args(["-c", "while :; do :; done"])
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(500));
        let after = Reading::now();
        own.kill().unwrap();
        own.wait().unwrap();
        let ours = after.ours_seconds - before.ours_seconds;
        assert!(
            ours > 0.05 && ours < 2.0 * began.elapsed().as_secs_f64() + 1.0,
            "{ours}"
        );
    }
}
