//! Finding the program that a command names, and saying what lacks when it is not there.

use std::fmt;
use std::path::{Path, PathBuf};

use testbed::Missing;

use crate::config::{Config, Target};

/// The program that the first word of a command names: a path from bench.toml's directory, a binary of this
/// workspace, or a program on PATH.
pub fn find(dir: &Path, word: &str) -> Result<PathBuf, Missing> {
    if word.contains('/') {
        let path = dir.join(word);
        return match path.is_file() {
            true => Ok(path),
            false => Err(Missing {
                what: word.to_owned(),
                remedy: format!("there is no file {}", path.display()),
            }),
        };
    }
    testbed::built(word).or_else(|_| testbed::tool(word))
}

/// Why a target cannot run here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lack {
    /// What it is built with is not on this machine.
    Toolchain(String),
    /// It could be built, by this command.
    NotBuilt {
        what: String,
        build: String,
    },
    Program(String),
}

impl Lack {
    /// What is not there.
    pub fn missing(&self) -> &str {
        match self {
            Self::Toolchain(what) | Self::NotBuilt { what, .. } | Self::Program(what) => what,
        }
    }
}

impl fmt::Display for Lack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Toolchain(toolchain) => write!(f, "not built: no {toolchain}"),
            Self::NotBuilt { what, build } => write!(f, "not built: no {what}; run `{build}`"),
            Self::Program(program) => write!(f, "missing {program}"),
        }
    }
}

/// The program of a target that can run, or what it lacks.
pub fn of_target(config: &Config, target: &Target) -> Result<PathBuf, Lack> {
    let found = find(&config.dir, &target.command[0]);
    let missing_file = target
        .files
        .iter()
        .find(|file| !config.path(file).exists())
        .map(|file| file.display().to_string());
    if let (Some(toolchain), true) = (&target.toolchain, found.is_err() || missing_file.is_some())
        && testbed::tool(toolchain).is_err()
    {
        return Err(Lack::Toolchain(toolchain.clone()));
    }
    let own_program =
        target.command[0].contains('/') || target.command[0].starts_with("levelfield");
    match (found, missing_file, &target.build) {
        (Ok(program), None, _) => Ok(program),
        (Err(missing), _, Some(build)) if own_program => Err(Lack::NotBuilt {
            what: missing.what,
            build: build.clone(),
        }),
        (Err(missing), _, _) => Err(Lack::Program(missing.what)),
        (Ok(_), Some(what), Some(build)) => Err(Lack::NotBuilt {
            what,
            build: build.clone(),
        }),
        (Ok(_), Some(what), None) => Err(Lack::Program(what)),
    }
}
