//! Where things are: the repository, installed tools, built binaries, free ports.

use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU16, Ordering};

use crate::Missing;

/// The root of the repository that this program was built from.
pub fn repo_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("testbed/ lies in the repository")
        .to_path_buf()
}

/// A program by name: from PATH, or else from where `scripts/setup` installs.
pub fn tool(name: &str) -> Result<PathBuf, Missing> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let tools = repo_root().join(".tools");
    std::env::split_paths(&path)
        .chain([tools.join("bin"), tools.join("venv/bin")])
        .map(|dir| dir.join(name))
        .find(|file| is_executable(file))
        .ok_or_else(|| Missing {
            what: name.into(),
            remedy: format!("put {name} on PATH, or run `make setup`"),
        })
}

/// A binary of this workspace by name: beside the running executable if that is itself of this
/// workspace (so that a test meets what was built with it), or else in the target directory.
pub fn built(name: &str) -> Result<PathBuf, Missing> {
    let beside = std::env::current_exe().ok().and_then(|exe| {
        let dir = exe.parent()?;
        // Tests lie in target/<profile>/deps, examples in target/<profile>/examples.
        let is_inner = dir.ends_with("deps") || dir.ends_with("examples");
        let dir = if is_inner { dir.parent()? } else { dir };
        Some(dir.to_path_buf())
    });
    let target = std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| repo_root().join("target"), PathBuf::from);
    beside
        .into_iter()
        .chain([target.join("release")])
        .map(|dir| dir.join(name))
        .find(|file| is_executable(file))
        .ok_or_else(|| Missing {
            what: name.into(),
            remedy: "build it first: `cargo build --release`".into(),
        })
}

fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata()
        .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// A loopback port that nothing listens on. Never given out twice by one process, and taken from
/// below the range that outgoing connections use, so that no client's socket takes it in between.
pub fn free_port() -> u16 {
    const FIRST: u16 = 15_000;
    const COUNT: u16 = 17_000;
    static NEXT: AtomicU16 = AtomicU16::new(0);
    // Processes start at places of their own; 7919 is prime, so that neighbours lie far apart.
    let start = (std::process::id() % u32::from(COUNT)) * 7919;
    for _ in 0..COUNT {
        let step = u32::from(NEXT.fetch_add(1, Ordering::Relaxed));
        let port = FIRST + ((start + step) % u32::from(COUNT)) as u16;
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return port;
        }
    }
    panic!("no free port between {FIRST} and {}", FIRST + COUNT);
}
