//! What `watch` looks at: a change of a build's inputs or of the manifest asks for a build, a change of the wasm or
//! of mounted files for a restart. It polls: a look costs a few `stat` calls, works on every file system, and sees
//! files that a glob matches only later.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::SystemTime;

use crate::building::{Recipe, expand, modified};

/// What to look at.
#[derive(Clone, Debug, Default)]
pub struct Watched {
    pub(crate) manifest: Option<PathBuf>,
    pub(crate) recipes: Vec<Recipe>,
    /// Wasm files.
    pub(crate) wasm: Vec<PathBuf>,
    /// `files` entries, below the manifest's directory.
    pub(crate) files: Vec<String>,
}

/// The watched files at one time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    build: Times,
    restart: Times,
}

type Times = BTreeMap<PathBuf, (u64, Option<SystemTime>)>;

/// What a change asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Build, then restart.
    Build,
    Restart,
}

impl Watched {
    pub fn look(&self) -> Snapshot {
        let inputs = self.recipes.iter().flat_map(Recipe::inputs);
        let base = self.manifest.as_ref().and_then(|path| path.parent());
        let files = base
            .into_iter()
            .flat_map(|base| self.files.iter().flat_map(|entry| expand(base, entry)));
        Snapshot {
            build: times(inputs.chain(self.manifest.clone())),
            restart: times(self.wasm.iter().cloned().chain(files)),
        }
    }
}

impl Snapshot {
    /// The state of an app that was built from the inputs of this look and started with the rest of `later`.
    pub fn built(self, later: Snapshot) -> Snapshot {
        Snapshot {
            build: self.build,
            restart: later.restart,
        }
    }

    /// What has to happen for an app that was started at `self`, now that the files are as in `now`.
    pub fn change(&self, now: &Snapshot) -> Option<Change> {
        if self.build != now.build {
            return Some(Change::Build);
        }
        (self.restart != now.restart).then_some(Change::Restart)
    }
}

fn times(paths: impl Iterator<Item = PathBuf>) -> Times {
    let time = |path: PathBuf| {
        let length = path.metadata().map_or(0, |metadata| metadata.len());
        let modified = modified(&path);
        (path, (length, modified))
    };
    paths.map(time).collect()
}
