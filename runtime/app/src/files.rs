//! A component's `files`: what is copied where, and what it sees of it.
//!
//! By default everything is copied at start into a directory of the app's own and mounted there as `/`, so that an
//! edit shows only after a restart. With direct mounts the directories themselves are mounted.

use std::fs;
use std::path::{Component, Path, PathBuf};

use glob::Pattern;

use crate::manifest::Placement;
use crate::shapes::StringOr;

/// A directory of the host that the component sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    pub host: PathBuf,
    /// Absolute; `/` for copies.
    pub guest: String,
    pub writable: bool,
}

/// What to mount and how.
pub(crate) struct Files<'a> {
    pub entries: &'a [StringOr<Placement>],
    pub exclude: &'a [String],
    /// The manifest's directory, absolute: everything must be inside it.
    pub base: &'a Path,
    pub writable: bool,
}

impl Files<'_> {
    /// Copies the files into `root` and mounts that as `/`. Returns also what is odd, a line each.
    pub fn copy(&self, root: &Path) -> Result<(Vec<Mount>, Vec<String>), String> {
        let mut warnings = Vec::new();
        if self.entries.is_empty() {
            return Ok((Vec::new(), warnings));
        }
        let exclude = self.exclude.iter().map(|pattern| {
            Pattern::new(pattern)
                .map_err(|error| format!("exclude_files: `{pattern}` is not a glob: {error}"))
        });
        let exclude = exclude.collect::<Result<Vec<_>, _>>()?;
        create(root)?;
        for entry in self.entries {
            match entry {
                StringOr::String(text) => {
                    if ["*", "**/*"].contains(&text.as_str()) {
                        warnings.push(format!("files: `{text}` mounts the whole app; write `./{text}` if that is meant"));
                    }
                    self.copy_pattern(text, root, &exclude)?;
                }
                StringOr::Table(placement) => self.copy_placement(placement, root, &exclude)?,
            }
        }
        let mount = Mount {
            host: root.to_owned(),
            guest: "/".into(),
            writable: self.writable,
        };
        Ok((vec![mount], warnings))
    }

    /// Mounts the directories themselves.
    pub fn mount_directly(&self) -> Result<Vec<Mount>, String> {
        if !self.exclude.is_empty() {
            return Err("exclude_files does not work with --direct-mounts".into());
        }
        let mount = |entry: &StringOr<Placement>| {
            let (source, destination) = match entry {
                StringOr::String(text) => (text, text),
                StringOr::Table(placement) => (&placement.source, &placement.destination),
            };
            let host = self.inside(source)?;
            if !host.is_dir() {
                return Err(format!(
                    "`{source}` is not a directory; only directories work with --direct-mounts"
                ));
            }
            let guest = relative(destination)?;
            Ok(Mount {
                host,
                guest: format!("/{}", guest.display()),
                writable: self.writable,
            })
        };
        self.entries.iter().map(mount).collect()
    }

    fn copy_pattern(&self, text: &str, root: &Path, exclude: &[Pattern]) -> Result<(), String> {
        if matches!(text.rsplit('/').next(), Some("." | "..")) {
            return Err(format!(
                "`{text}` ends in a dot; name the directory, or write a glob that ends in `**/*`"
            ));
        }
        let path = self.inside(text)?;
        if path.is_dir() {
            return self.copy_tree(&path, self.base, root, exclude);
        }
        if path.exists() {
            return copy_file(
                &path,
                &root.join(path.strip_prefix(self.base).unwrap_or(Path::new(text))),
            );
        }
        if !text.contains(['*', '?', '[']) {
            return Err(format!(
                "`{text}` does not exist and doesn't appear to be a glob"
            ));
        }
        let pattern = format!("{}/{text}", Pattern::escape(&self.base.to_string_lossy()));
        self.copy_glob(&pattern, self.base, root, exclude)
    }

    fn copy_placement(
        &self,
        placement: &Placement,
        root: &Path,
        exclude: &[Pattern],
    ) -> Result<(), String> {
        let Placement {
            source,
            destination,
        } = placement;
        let path = self.inside(source)?;
        let target = root.join(relative(destination)?);
        if path.is_dir() {
            create(&target)?;
            return self.copy_tree(&path, &path, &target, exclude);
        }
        if !path.exists() {
            return Err(format!("`{source}` does not exist"));
        }
        if destination.ends_with('/') || destination.ends_with('.') || target == root {
            return Err(format!("`{destination}` is not the name of a file"));
        }
        copy_file(&path, &target)
    }

    fn copy_tree(
        &self,
        tree: &Path,
        prefix: &Path,
        root: &Path,
        exclude: &[Pattern],
    ) -> Result<(), String> {
        self.copy_glob(
            &format!("{}/**/*", Pattern::escape(&tree.to_string_lossy())),
            prefix,
            root,
            exclude,
        )
    }

    /// Copies the files that match, each to where it is below `prefix`.
    fn copy_glob(
        &self,
        pattern: &str,
        prefix: &Path,
        root: &Path,
        exclude: &[Pattern],
    ) -> Result<(), String> {
        let paths =
            glob::glob(pattern).map_err(|error| format!("`{pattern}` is not a glob: {error}"))?;
        for path in paths {
            let path = normal(&path.map_err(|error| {
                format!("cannot read {}: {}", error.path().display(), error.error())
            })?);
            let within = path.strip_prefix(self.base).map_err(|_| outside(&path))?;
            if path.is_dir() || exclude.iter().any(|pattern| pattern.matches_path(within)) {
                continue;
            }
            copy_file(
                &path,
                &root.join(path.strip_prefix(prefix).map_err(|_| outside(&path))?),
            )?;
        }
        Ok(())
    }

    /// The absolute path of `text`, which must be below the manifest's directory.
    fn inside(&self, text: &str) -> Result<PathBuf, String> {
        let path = normal(&self.base.join(text));
        if path.starts_with(self.base) {
            Ok(path)
        } else {
            Err(outside(&path))
        }
    }
}

fn outside(path: &Path) -> String {
    format!(
        "{} is outside the manifest's directory; files must be inside it",
        path.display()
    )
}

/// A path in the guest, made relative; it may not leave the guest's root.
fn relative(destination: &str) -> Result<PathBuf, String> {
    let path = Path::new(destination.trim_start_matches('/'));
    if path
        .components()
        .any(|component| matches!(component, Component::ParentDir))
    {
        return Err(format!(
            "`{destination}`: `..` is not allowed in a destination"
        ));
    }
    Ok(normal(path))
}

/// Resolves `.` and `..` by the path's text alone.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                normal.pop();
            }
            component => normal.push(component),
        }
    }
    normal
}

fn create(directory: &Path) -> Result<(), String> {
    fs::create_dir_all(directory)
        .map_err(|error| format!("cannot create {}: {error}", directory.display()))
}

fn copy_file(from: &Path, to: &Path) -> Result<(), String> {
    if let Some(parent) = to.parent() {
        create(parent)?;
    }
    let failed = |error| {
        format!(
            "cannot copy {} to {}: {error}",
            from.display(),
            to.display()
        )
    };
    fs::copy(from, to).map_err(failed).map(drop)
}
