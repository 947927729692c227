//! Where an app is: what `--from` names, or the `spin.toml` of this directory or one above it.

use std::path::{Path, PathBuf};

use crate::Error;

/// How many directories above the current one are searched.
const LEVELS: usize = 19;

/// What an app is loaded from.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    Manifest(PathBuf),
    Wasm(PathBuf),
}

pub(crate) fn origin(from: Option<&Path>) -> Result<Origin, Error> {
    let Some(from) = from else {
        let here = std::env::current_dir().map_err(|source| Error::Read {
            path: ".".into(),
            source,
        })?;
        return search(&here)
            .map(Origin::Manifest)
            .ok_or(Error::NoManifest { directory: here });
    };
    if from.is_dir() {
        return Ok(Origin::Manifest(from.join("spin.toml")));
    }
    match from.extension().and_then(|extension| extension.to_str()) {
        Some("wasm" | "wat" | "cwasm") => Ok(Origin::Wasm(from.to_owned())),
        _ => Ok(Origin::Manifest(from.to_owned())),
    }
}

/// The name of an app and component that is a bare wasm file.
pub(crate) fn bare_id(wasm: &Path) -> String {
    wasm.file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

/// Looks for `spin.toml` in `directory` and above it, not beyond the root of a git work tree.
fn search(directory: &Path) -> Option<PathBuf> {
    for directory in directory.ancestors().take(LEVELS + 1) {
        let manifest = directory.join("spin.toml");
        if manifest.is_file() {
            return Some(manifest);
        }
        if directory.join(".git").exists() {
            return None;
        }
    }
    None
}

/// Where downloads are kept when nobody says otherwise.
pub(crate) fn cache_dir() -> PathBuf {
    let set = |name: &str| {
        std::env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    let cache = set("XDG_CACHE_HOME").or_else(|| set("HOME").map(|home| home.join(".cache")));
    cache.unwrap_or_else(std::env::temp_dir).join("levelfield")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_search_goes_up_to_the_root_of_the_git_work_tree() {
        let root = tempfile::tempdir().unwrap();
        let deep = root.path().join("repo/a/b");
        fs::create_dir_all(&deep).unwrap();
        fs::write(root.path().join("spin.toml"), "").unwrap();
        fs::create_dir(root.path().join("repo/.git")).unwrap();
        assert_eq!(
            search(&deep),
            None,
            "a manifest above the repository is not the app's"
        );
        fs::write(root.path().join("repo/spin.toml"), "").unwrap();
        assert_eq!(search(&deep), Some(root.path().join("repo/spin.toml")));
    }

    #[test]
    fn the_search_ends_after_nineteen_levels() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("spin.toml"), "").unwrap();
        let at = |depth: usize| {
            let deep = (0..depth).fold(root.path().to_owned(), |path, _| path.join("d"));
            fs::create_dir_all(&deep).unwrap();
            search(&deep)
        };
        assert!(at(19).is_some());
        assert!(at(20).is_none());
    }

    #[test]
    fn a_path_is_a_directory_a_wasm_file_or_a_manifest() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(
            origin(Some(root.path())).unwrap(),
            Origin::Manifest(root.path().join("spin.toml"))
        );
        assert_eq!(
            origin(Some(Path::new("a.wasm"))).unwrap(),
            Origin::Wasm("a.wasm".into())
        );
        assert_eq!(
            origin(Some(Path::new("a.wat"))).unwrap(),
            Origin::Wasm("a.wat".into())
        );
        assert_eq!(
            origin(Some(Path::new("a.cwasm"))).unwrap(),
            Origin::Wasm("a.cwasm".into())
        );
        assert_eq!(
            origin(Some(Path::new("app.toml"))).unwrap(),
            Origin::Manifest("app.toml".into())
        );
    }
}
