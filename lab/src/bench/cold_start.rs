//! Cold starts: from spawn to the first right answer, with the page cache as it is or emptied before each.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};

use super::trial::{Bench, Measured, Task};
use crate::config::{Config, Target};
use crate::gates;
use crate::noise::{Noise, Reading};
use crate::programs;
use crate::results::{ColdStart, Figures};

const DROP_CACHES: &str = "/proc/sys/vm/drop_caches";

/// Whether this process may empty the page cache.
pub fn may_drop_page_cache() -> bool {
    OpenOptions::new().write(true).open(DROP_CACHES).is_ok()
}

pub fn measure(bench: &mut Bench<'_>, task: Task<'_>, target: &Target) -> Measured {
    let drop_page_cache = task.planned.profile.drop_page_cache;
    let noise_before = Reading::now();
    let mut spawns_ms = Vec::new();
    for _ in 0..task.planned.profile.spawns {
        if bench.interrupt.is_set() {
            break;
        }
        let confinement = match bench.confine(task) {
            Ok(confinement) => confinement,
            Err(error) => return Measured::void(format!("cannot set the limits: {error}")),
        };
        if drop_page_cache && let Err(error) = forget(bench.config, target) {
            return Measured::void(format!("cannot empty the page cache: {error}"));
        }
        match bench.launch(task, target, &confinement) {
            Ok(server) => {
                spawns_ms.push(server.started_in.as_secs_f64() * 1e3);
                server.stop();
            }
            Err(error) => return Measured::failed(format!("{error:#}")),
        }
        // The next one starts cold, its own services included.
        bench.services.stop_those_with_target(bench.config);
    }
    let noise = Noise::between(&noise_before, &Reading::now());
    let figures = Figures {
        completed: spawns_ms.len() as u64,
        cold_start: Some(ColdStart {
            page_cache_dropped: drop_page_cache,
            spawns_ms,
        }),
        ..Figures::default()
    };
    Measured::judged(figures, gates::noise(&noise))
}

/// Empties the page cache. Only what is on the disk can be forgotten, so that a program just built is written first.
/// What other processes have mapped, such as the C library, stays.
fn forget(config: &Config, target: &Target) -> io::Result<()> {
    let program = programs::find(&config.dir, &target.command[0]).ok();
    let files = target.files.iter().map(|file| config.path(file));
    for file in files.chain(program).filter(|file| file.is_file()) {
        File::open(file)?.sync_all()?;
    }
    OpenOptions::new()
        .write(true)
        .open(DROP_CACHES)?
        .write_all(b"1")
}
