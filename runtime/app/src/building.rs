//! Building an app: each component's `build.command`, in its `build.workdir`, and when a build is stale.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use crate::Error;

/// How to build a component.
#[derive(Clone, Debug)]
pub struct Recipe {
    pub component: String,
    /// Run one after the other by the shell.
    pub commands: Vec<String>,
    pub workdir: PathBuf,
    /// Paths and globs relative to `workdir` of what the component is built from.
    pub watch: Vec<String>,
    /// What the build makes, when the manifest names a file.
    pub wasm: Option<PathBuf>,
}

impl Recipe {
    /// Runs the commands with this program's own stdio. `announce` is told each before it runs.
    pub fn run(&self, mut announce: impl FnMut(&str)) -> Result<(), Error> {
        for command in &self.commands {
            announce(command);
            let failed = |message: String| Error::Build {
                component: self.component.clone(),
                command: command.clone(),
                message,
            };
            let status = Command::new("sh")
                .arg("-c")
                .arg(command)
                .current_dir(&self.workdir)
                .status();
            let status =
                status.map_err(|error| failed(format!("{}: {error}", self.workdir.display())))?;
            if !status.success() {
                return Err(failed(status.to_string()));
            }
        }
        Ok(())
    }

    /// The files that the component is built from, as they are now.
    pub fn inputs(&self) -> Vec<PathBuf> {
        self.watch
            .iter()
            .flat_map(|pattern| expand(&self.workdir, pattern))
            .collect()
    }

    /// Whether an input is newer than what was built from it. Unknown times count as old.
    pub fn is_stale(&self) -> bool {
        let Some(built) = self.wasm.as_deref().and_then(modified) else {
            return false;
        };
        self.inputs()
            .iter()
            .filter_map(|input| modified(input))
            .any(|input| input > built)
    }
}

/// The files that a path or glob relative to `directory` names; for a directory, all below it.
pub(crate) fn expand(directory: &Path, pattern: &str) -> Vec<PathBuf> {
    let path = directory.join(pattern);
    let escaped = glob::Pattern::escape(&directory.to_string_lossy());
    let pattern = if path.is_dir() {
        format!("{escaped}/{pattern}/**/*")
    } else if path.exists() {
        return vec![path];
    } else {
        format!("{escaped}/{pattern}")
    };
    let paths = glob::glob(&pattern).into_iter().flatten().flatten();
    paths.filter(|path| path.is_file()).collect()
}

pub(crate) fn modified(path: &Path) -> Option<SystemTime> {
    path.metadata()
        .and_then(|metadata| metadata.modified())
        .ok()
}
