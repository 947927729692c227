//! A bench.toml of servers that start anywhere, `levelfield bench` on it, and what a run may have left.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use lab::results::Results;

/// Two names of one server and one that answers wrongly, under light loads.
pub const BENCH: &str = r#"
[limits]
memory_mb = 256

[[target]]
name = "one"
command = ["python3", "server.py", "{port}"]
contract = false

[[target]]
name = "two"
command = ["sh", "-c", "python3 server.py {port} & wait"]
contract = false

[[target]]
name = "wrong"
command = ["python3", "server.py", "{port}", "other"]
contract = false

[[target]]
name = "mortal"
command = ["python3", "server.py", "{port}", "hello", "30"]
contract = false

[[target]]
name = "absent"
command = ["no-such-program", "{port}"]
contract = false

[[twin]]
name = "one-again"
of = "one"

[[comparison]]
target = "two"
baseline = "one"

[[scenario]]
name = "hello"
path = "/hello"
body = "hello"

[[profile]]
name = "fixed-rate"
kind = "fixed-rate"
rates = { hello = 40 }
vus = 8
seconds = { default = 1 }
warm_up_seconds = { default = 0.2 }
blocks = { default = 2 }
scenarios = { default = ["hello"] }

[[profile]]
name = "cold-start"
kind = "cold-start"
spawns = 2
blocks = { default = 1 }
scenarios = { default = ["hello"] }
"#;

pub struct Bench {
    pub dir: tempfile::TempDir,
}

impl Bench {
    pub fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let support = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support");
        std::fs::copy(support.join("server.py"), dir.path().join("server.py")).unwrap();
        std::fs::write(dir.path().join("bench.toml"), BENCH).unwrap();
        Self { dir }
    }

    pub fn out(&self) -> PathBuf {
        self.dir.path().join("out")
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_levelfield"));
        command
            .arg("bench")
            .arg("--config")
            .arg(self.dir.path().join("bench.toml"));
        command.arg("--out").arg(self.out()).args(args);
        command
    }

    pub fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    pub fn results(&self) -> Results {
        Results::read(&self.out()).unwrap()
    }
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Processes that carry the mark of this run.
pub fn marked(run: u32) -> Vec<u32> {
    let mark = format!("LEVELFIELD_RUN={run}");
    lab::processes::all()
        .filter(|pid| {
            let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment
                .split(|&byte| byte == 0)
                .any(|variable| variable == mark.as_bytes())
        })
        .collect()
}

/// cgroups named after this run, wherever they are mounted.
pub fn cgroups(run: u32) -> Vec<PathBuf> {
    fn below(dir: &Path, name: &str, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                if entry.file_name().to_string_lossy().starts_with(name) {
                    found.push(entry.path());
                }
                below(&entry.path(), name, found);
            }
        }
    }
    let mut found = Vec::new();
    below(
        Path::new("/sys/fs/cgroup"),
        &format!("levelfield-{run}-"),
        &mut found,
    );
    found
}

pub fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !condition() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
