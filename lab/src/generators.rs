//! Load generators: programs that are run, and two of our own; each says how much of a core it used itself.

mod bombardier;
mod k6;
mod k6_summary;
pub mod null_server;
pub mod open_loop;

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use testbed::{Process, Ready};

pub use bombardier::Bombardier;
pub use k6::K6;
pub use k6_summary::{K6Summary, SummaryError};

use crate::http::Origin;
use crate::interrupt::Interrupt;
use crate::leftovers;
use crate::limits::{CpuSet, pin};
use crate::results::{Figures, GateFinding};

/// One load on one server.
pub struct Load<'a> {
    pub origin: &'a Origin,
    pub status: u16,
    /// At least one; which of several is asked when follows from the seed.
    pub asks: &'a [Ask],
    pub seed: u32,
    pub shape: Shape,
}

/// A request and the body of its right answer, where that is known in full.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    pub path: String,
    pub body: Option<Vec<u8>>,
}

impl Load<'_> {
    /// The request that is the `number`th of this load, whoever sends it: k6.js draws by the same rule.
    pub fn ask(&self, number: u64) -> &Ask {
        // The finaliser of MurmurHash3: any generator can compute it in 32 bits.
        let mut x = self.seed.wrapping_add(number as u32);
        x = (x ^ (x >> 16)).wrapping_mul(0x85EB_CA6B);
        x = (x ^ (x >> 13)).wrapping_mul(0xC2B2_AE35);
        x ^= x >> 16;
        &self.asks[x as usize % self.asks.len()]
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// Requests begin at their times, whether earlier ones were answered or not.
    Open { rate: f64, vus: u32, seconds: f64 },
    /// Each connection asks again once it was answered.
    Closed { connections: u32, until: Until },
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Until {
    Seconds(f64),
    Requests(u64),
}

/// What a generator read, and what its own gates found.
pub struct Loaded {
    pub figures: Figures,
    pub findings: Vec<GateFinding>,
}

#[derive(Debug, thiserror::Error)]
pub enum GeneratorError {
    #[error(transparent)]
    Missing(#[from] testbed::Missing),
    #[error(transparent)]
    Start(#[from] testbed::Error),
    #[error("{generator} cannot {what}")]
    Unable {
        generator: &'static str,
        what: &'static str,
    },
    #[error("{generator} ended with {status}; its output:\n{output}")]
    Failed {
        generator: &'static str,
        status: std::process::ExitStatus,
        output: String,
    },
    #[error("{generator} still ran {seconds:.0} s after it should have ended")]
    Overdue {
        generator: &'static str,
        seconds: f64,
    },
    #[error("what {generator} printed cannot be read: {what}; it begins: {start}")]
    Unreadable {
        generator: &'static str,
        what: String,
        start: String,
    },
    #[error("interrupted")]
    Interrupted,
    #[error("{0}")]
    Io(#[from] std::io::Error),
}

pub trait Generator {
    /// As the report and `Profile::generator` name it.
    fn name(&self) -> &'static str;
    /// Loads the server once. Blocks; ends early, with an error, when interrupted.
    fn load(&self, load: &Load<'_>, interrupt: &Interrupt) -> Result<Loaded, GeneratorError>;
}

/// A generator that is a program.
pub struct Program {
    pub name: &'static str,
    pub path: PathBuf,
    /// The cores that it may use: none of them is the server's.
    pub cpus: CpuSet,
}

impl Program {
    pub fn find(name: &'static str, cpus: &CpuSet) -> Result<Self, testbed::Missing> {
        Ok(Self {
            name,
            path: testbed::tool(name)?,
            cpus: cpus.clone(),
        })
    }

    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.path);
        // A Go program's collector is the main cause of its stalls; fewer collections, fewer dropped iterations.
        command
            .env("GOGC", "400")
            .env("GOMAXPROCS", self.cpus.cpus().len().to_string());
        leftovers::mark(&mut command);
        pin(&mut command, &self.cpus);
        command
    }

    /// Runs it to its end. `expected` is how long it should take.
    fn run(
        &self,
        command: &mut Command,
        expected: Duration,
        interrupt: &Interrupt,
    ) -> Result<Ran, GeneratorError> {
        let began = Instant::now();
        let cpu_before = children_cpu_seconds();
        let mut process = Process::start(command, Ready::AtOnce, Duration::from_secs(5))?;
        let patience = expected * 2 + Duration::from_secs(30);
        let status = loop {
            if let Some(status) = process.wait(Duration::from_millis(100)) {
                break status;
            }
            if interrupt.is_set() {
                return Err(GeneratorError::Interrupted);
            }
            if began.elapsed() > patience {
                return Err(GeneratorError::Overdue {
                    generator: self.name,
                    seconds: (patience - expected).as_secs_f64(),
                });
            }
        };
        let seconds = began.elapsed().as_secs_f64();
        std::thread::sleep(Duration::from_millis(20)); // lets the last of the output arrive
        Ok(Ran {
            status,
            output: process.output(),
            cores: (children_cpu_seconds() - cpu_before) / seconds,
        })
    }
}

struct Ran {
    status: std::process::ExitStatus,
    output: String,
    /// The share of one core that it used.
    cores: f64,
}

/// The CPU time of all children that were waited for: while a generator runs, no other child of ours ends.
#[allow(unsafe_code)]
fn children_cpu_seconds() -> f64 {
    // SAFETY: rusage is plain data for which all zeroes is a value, and getrusage only writes into it.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut usage);
        usage
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

/// The quantiles that latency is asked for: dense in the middle, and by nines in the tail.
pub const QUANTILES: [f64; 40] = [
    0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75,
    0.8, 0.825, 0.85, 0.875, 0.9, 0.91, 0.92, 0.93, 0.94, 0.95, 0.96, 0.97, 0.975, 0.98, 0.985,
    0.99, 0.9925, 0.995, 0.9975, 0.998, 0.999, 0.9995, 0.9999,
];
