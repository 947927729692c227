//! `levelfield bench`: a plan fixed beforehand, carried out in randomised complete blocks, a fresh process a trial.

mod answers;
mod calibrate;
mod cold_start;
mod contestant;
mod display;
mod ladder;
mod plan;
mod planned;
mod run;
mod trial;
mod warm_up;

pub use answers::Canary;
pub use cold_start::may_drop_page_cache;
pub use contestant::{Contestant, Subject};
pub use display::Display;
pub use plan::{Options, Schedule};
pub use planned::{Planned, PlannedScenario};
pub use run::{now, run};
pub use trial::{Bench, Task};

use crate::generators::{Bombardier, Generator, K6, Shape, open_loop::OwnLoop};
use crate::limits::CpuSet;
use crate::results::ProfileKind;

/// Who runs where: the server alone on its cores, all else on the others.
#[derive(Clone, Debug)]
pub struct Cores {
    pub server: CpuSet,
    pub generator: CpuSet,
}

impl Cores {
    pub fn of_this_machine(server_cpus: u32) -> Self {
        let (server, generator) = CpuSet::allowed().split(server_cpus.max(1) as usize);
        Self { server, generator }
    }
}

/// The generators of this machine, or our own in their place.
pub struct Generators {
    open: Box<dyn Generator>,
    closed: Box<dyn Generator>,
}

impl Generators {
    pub fn find(cores: &Cores) -> Self {
        Self {
            open: match K6::find(&cores.generator) {
                Ok(k6) => Box::new(k6),
                Err(_) => Box::new(OwnLoop),
            },
            closed: match Bombardier::find(&cores.generator) {
                Ok(bombardier) => Box::new(bombardier),
                Err(_) => Box::new(OwnLoop),
            },
        }
    }

    pub fn open(&self) -> &dyn Generator {
        &*self.open
    }

    pub fn closed(&self) -> &dyn Generator {
        &*self.closed
    }

    /// The one that says how each second went.
    pub fn own(&self) -> &dyn Generator {
        &OwnLoop
    }

    /// For a load of this shape in a profile of this kind.
    pub fn of(&self, kind: ProfileKind, shape: Shape) -> &dyn Generator {
        match (kind, shape) {
            (ProfileKind::Soak, _) => self.own(),
            (_, Shape::Open { .. }) => self.open(),
            (_, Shape::Closed { .. }) => self.closed(),
        }
    }
}
