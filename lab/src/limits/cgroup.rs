//! What both versions of cgroups share: directories that are made, entered, read, emptied and removed.

use std::ffi::CString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// What the names of our cgroups begin with; then comes the pid of the process that made them.
pub const PREFIX: &str = "levelfield-";

/// One group: with cgroup v2 one directory, with v1 one for each controller.
pub struct Group {
    pub dirs: Vec<PathBuf>,
}

impl Group {
    pub fn create(dirs: Vec<PathBuf>) -> io::Result<Self> {
        let group = Self { dirs };
        for dir in &group.dirs {
            fs::create_dir(dir).map_err(|error| named(error, "cannot make", dir))?;
        }
        Ok(group)
    }

    /// Makes the process that `command` starts write itself into every directory, before it becomes the program.
    #[allow(unsafe_code)]
    pub fn enter(&self, command: &mut Command) {
        let files: Vec<CString> = self
            .dirs
            .iter()
            // A path of ours holds no NUL byte.
            .filter_map(|dir| CString::new(dir.join("cgroup.procs").as_os_str().as_bytes()).ok())
            .collect();
        // SAFETY: between fork and exec the closure makes open, write and close calls, all async-signal-safe, on
        // strings that were made before; it neither allocates nor locks.
        unsafe {
            command.pre_exec(move || {
                for file in &files {
                    let descriptor = libc::open(file.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
                    if descriptor < 0 {
                        return Err(io::Error::last_os_error());
                    }
                    // "0" is the process that writes.
                    let written = libc::write(descriptor, c"0".as_ptr().cast(), 1);
                    let error = io::Error::last_os_error();
                    libc::close(descriptor);
                    if written != 1 {
                        return Err(error);
                    }
                }
                Ok(())
            });
        }
    }

    fn pids(&self) -> Vec<i32> {
        self.dirs.iter().flat_map(|dir| pids_in(dir)).collect()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let deadline = Instant::now() + Duration::from_secs(5);
        loop {
            let pids = self.pids();
            for pid in &pids {
                kill(*pid);
            }
            let gone = self
                .dirs
                .iter()
                .filter(|dir| !matches!(fs::remove_dir(dir), Err(ref e) if e.kind() != io::ErrorKind::NotFound))
                .count();
            if gone == self.dirs.len() || Instant::now() > deadline {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

fn pids_in(dir: &Path) -> Vec<i32> {
    fs::read_to_string(dir.join("cgroup.procs"))
        .unwrap_or_default()
        .lines()
        .filter_map(|line| line.parse().ok())
        .collect()
}

#[allow(unsafe_code)]
fn kill(pid: i32) {
    // SAFETY: kill has no memory effects, and the pid was just read from a group that only our children enter.
    unsafe {
        libc::kill(pid, libc::SIGKILL);
    }
}

pub fn write(dir: &Path, file: &str, value: impl ToString) -> io::Result<()> {
    let path = dir.join(file);
    fs::write(&path, value.to_string()).map_err(|error| named(error, "cannot write", &path))
}

pub fn named(error: io::Error, what: &str, path: &Path) -> io::Error {
    io::Error::new(error.kind(), format!("{what} {}: {error}", path.display()))
}

/// The value of a line `key value` in a file such as cpu.stat.
pub fn stat(dir: &Path, file: &str, key: &str) -> Option<u64> {
    fs::read_to_string(dir.join(file))
        .ok()?
        .lines()
        .find_map(|line| line.strip_prefix(key)?.strip_prefix(' ')?.parse().ok())
}

/// This process's own cgroup, below the mount point, for a v1 controller or with `None` for v2.
pub fn own_path(controller: Option<&str>) -> Option<String> {
    let text = fs::read_to_string("/proc/self/cgroup").ok()?;
    text.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':');
        let (number, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
        let found = match controller {
            Some(controller) => controllers.split(',').any(|one| one == controller),
            None => number == "0" && controllers.is_empty(),
        };
        found.then(|| path.to_owned())
    })
}

/// The mount point of a v1 controller, or with `None` of v2.
pub fn mount_point(controller: Option<&str>) -> Option<PathBuf> {
    let text = fs::read_to_string("/proc/self/mounts").ok()?;
    text.lines().find_map(|line| {
        let mut columns = line.split(' ').skip(1);
        let (path, kind, options) = (columns.next()?, columns.next()?, columns.next()?);
        let found = match controller {
            Some(controller) => kind == "cgroup" && options.split(',').any(|one| one == controller),
            None => kind == "cgroup2",
        };
        found.then(|| PathBuf::from(path))
    })
}

/// Removes the cgroups, and kills what is still in them, of runs whose process is gone.
pub fn remove_leftovers() -> usize {
    let controllers = [
        None,
        Some("cpu"),
        Some("cpuacct"),
        Some("cpuset"),
        Some("memory"),
    ];
    let mut removed = 0;
    for controller in controllers {
        let (Some(mount), Some(own)) = (mount_point(controller), own_path(controller)) else {
            continue;
        };
        let parent = mount.join(own.trim_start_matches('/'));
        for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let maker = name
                .strip_prefix(PREFIX)
                .and_then(|rest| rest.split('-').next()?.parse::<u32>().ok());
            if maker.is_some_and(|pid| !Path::new(&format!("/proc/{pid}")).exists()) {
                drop(Group {
                    dirs: vec![entry.path()],
                });
                removed += 1;
            }
        }
    }
    removed
}
