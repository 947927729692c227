//! Where a component's stdout and stderr are kept: `<component>_stdout.txt` and `<component>_stderr.txt`.

use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};

use crate::Error;

/// One of a component's output streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    Stdout,
    Stderr,
}

impl Stream {
    fn suffix(self) -> &'static str {
        match self {
            Stream::Stdout => "stdout",
            Stream::Stderr => "stderr",
        }
    }
}

/// The directory of an app's log files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogDirectory {
    path: PathBuf,
}

impl LogDirectory {
    /// Chooses the directory: what the command line says, else the runtime config, else `logs` in the state
    /// directory, which is chosen alike and is `.spin` beside the manifest. An empty text means none.
    pub(crate) fn choose(
        log: [Option<&str>; 2],
        state: [Option<&str>; 2],
        manifest_directory: Option<&Path>,
    ) -> Option<Self> {
        let first =
            |choices: [Option<&str>; 2]| choices.into_iter().flatten().next().map(str::to_owned);
        let path = match (first(log), first(state)) {
            (Some(path), _) => PathBuf::from(Some(path).filter(|path| !path.is_empty())?),
            (None, Some(state)) => {
                Path::new(&Some(state).filter(|path| !path.is_empty())?).join("logs")
            }
            (None, None) => manifest_directory?.join(".spin").join("logs"),
        };
        Some(LogDirectory { path })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes the directory and, when `truncate`, empties every log file in it.
    pub fn prepare(&self, truncate: bool) -> Result<(), Error> {
        let failed = |source| Error::Write {
            path: self.path.clone(),
            source,
        };
        fs::create_dir_all(&self.path).map_err(failed)?;
        if truncate {
            for entry in fs::read_dir(&self.path).map_err(failed)? {
                let path = entry.map_err(failed)?.path();
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                if name.ends_with("_stdout.txt") || name.ends_with("_stderr.txt") {
                    File::create(&path).map_err(|source| Error::Write {
                        path: path.clone(),
                        source,
                    })?;
                }
            }
        }
        Ok(())
    }

    /// Opens a component's log file for appending.
    pub fn open(&self, component: &str, stream: Stream) -> Result<File, Error> {
        let path = self
            .path
            .join(format!("{component}_{}.txt", stream.suffix()));
        OpenOptions::new()
            .create(true)
            .append(true)
            .open(&path)
            .map_err(|source| Error::Write { path, source })
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use super::*;

    fn chosen(log: [Option<&str>; 2], state: [Option<&str>; 2]) -> Option<PathBuf> {
        LogDirectory::choose(log, state, Some(Path::new("/app"))).map(|directory| directory.path)
    }

    #[test]
    fn the_command_line_precedes_the_runtime_config_and_both_the_default() {
        assert_eq!(
            chosen([Some("a"), Some("b")], [None, None]),
            Some("a".into())
        );
        assert_eq!(
            chosen([None, Some("b")], [Some("s"), None]),
            Some("b".into())
        );
        assert_eq!(
            chosen([None, None], [Some("s"), Some("t")]),
            Some("s/logs".into())
        );
        assert_eq!(
            chosen([None, None], [None, None]),
            Some("/app/.spin/logs".into())
        );
        assert_eq!(
            LogDirectory::choose([None, None], [None, None], None),
            None,
            "a bare component has no state"
        );
    }

    #[test]
    fn an_empty_directory_means_no_files() {
        assert_eq!(chosen([Some(""), Some("b")], [Some("s"), None]), None);
        assert_eq!(chosen([None, None], [Some(""), Some("t")]), None);
    }

    #[test]
    fn log_files_are_appended_to_until_truncated() {
        let directory = tempfile::tempdir().unwrap();
        let logs = LogDirectory {
            path: directory.path().join("logs"),
        };
        logs.prepare(false).unwrap();
        for text in ["one\n", "two\n"] {
            logs.open("hello", Stream::Stdout)
                .unwrap()
                .write_all(text.as_bytes())
                .unwrap();
        }
        let read = || {
            let mut text = String::new();
            File::open(logs.path().join("hello_stdout.txt"))
                .unwrap()
                .read_to_string(&mut text)
                .unwrap();
            text
        };
        assert_eq!(read(), "one\ntwo\n");
        logs.prepare(false).unwrap();
        assert_eq!(read(), "one\ntwo\n");
        logs.prepare(true).unwrap();
        assert_eq!(read(), "");
    }
}
