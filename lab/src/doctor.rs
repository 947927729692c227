//! What on this machine would spoil or limit a run, each as a type with a sentence of its own.

use std::fmt;
use std::time::Duration;

use crate::bench::{Cores, may_drop_page_cache};
use crate::gates;
use crate::limits::Backend;
use crate::machine::read;
use crate::noise::{Noise, Reading};
use crate::results::GateFinding;

pub enum Caution {
    /// Server and generator compete.
    SharedCore,
    NoGenerator {
        program: &'static str,
        instead: &'static str,
    },
    NoStore,
    WeakLimits {
        backend: &'static str,
        weakness: &'static str,
    },
    Governor(String),
    SmtSiblings,
    Virtual,
    WarmPageCache,
    /// What a gate would find now.
    Busy(GateFinding),
}

impl fmt::Display for Caution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SharedCore => write!(
                f,
                "server and generator share the only core: latencies hold the generator's work too"
            ),
            Self::NoGenerator { program, instead } => {
                write!(f, "no {program}: {instead}; `make setup` installs it")
            }
            Self::NoStore => write!(
                f,
                "no mongod, ferretdb or secantusd-py: what needs the store cannot run; `make setup` installs one"
            ),
            Self::WeakLimits { backend, weakness } => write!(f, "limits by {backend}: {weakness}"),
            Self::Governor(governor) => write!(
                f,
                "the frequency governor is {governor}: the clock varies with the load; set it to performance"
            ),
            Self::SmtSiblings => write!(
                f,
                "SMT is on: the generator may run on the sibling of the server's core"
            ),
            Self::Virtual => write!(
                f,
                "a virtual machine: neighbours may take CPU time, of which the steal gate sees a part"
            ),
            Self::WarmPageCache => write!(
                f,
                "the page cache cannot be emptied: cold starts find programs in memory; run as root for those that do not"
            ),
            Self::Busy(finding) => write!(f, "now {}", finding.reading),
        }
    }
}

/// Looks for a second; `backend` is the one that would be used.
pub fn examine(cores: &Cores, backend: &dyn Backend) -> Vec<Caution> {
    let before = Reading::now();
    std::thread::sleep(Duration::from_secs(1));
    let noise = Noise::between(&before, &Reading::now());
    let mut cautions = Vec::new();
    if cores.server == cores.generator {
        cautions.push(Caution::SharedCore);
    }
    for (program, instead) in [
        ("k6", "the lab's own open loop is used"),
        (
            "bombardier",
            "the lab's own closed loop is used, which saturates sooner",
        ),
    ] {
        if testbed::tool(program).is_err() {
            cautions.push(Caution::NoGenerator { program, instead });
        }
    }
    let stores = testbed::mongo::Kind::OURS;
    if !stores
        .into_iter()
        .any(|kind| testbed::tool(kind.name()).is_ok())
    {
        cautions.push(Caution::NoStore);
    }
    if let Some(weakness) = backend.weakness() {
        cautions.push(Caution::WeakLimits {
            backend: backend.name(),
            weakness,
        });
    }
    let governor = read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    if !governor.is_empty() && governor.trim() != "performance" {
        cautions.push(Caution::Governor(governor.trim().to_owned()));
    }
    if read("/sys/devices/system/cpu/smt/active").trim() == "1" {
        cautions.push(Caution::SmtSiblings);
    }
    if read("/proc/cpuinfo").contains(" hypervisor") {
        cautions.push(Caution::Virtual);
    }
    if !may_drop_page_cache() {
        cautions.push(Caution::WarmPageCache);
    }
    cautions.extend(gates::noise(&noise).into_iter().map(Caution::Busy));
    cautions
}
