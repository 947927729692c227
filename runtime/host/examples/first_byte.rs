//! Measures the time from a process's start to the first correct answer: the host from a component's wasm and from its
//! artifact, the host with a static response alone, and the native build. Rounds are interleaved; the medians of one run
//! are to be compared with each other only.
//!
//! `scripts/build && cargo run --release -p levelfield-host --example first_byte -- [ROUNDS]`

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const PATH: &str = "/helloWorld";
const BODY: &str = "{\"message\":\"Hello world!\"}";

/// Nothing takes longer than this to start.
const PATIENCE: Duration = Duration::from_secs(30);

fn main() {
    let rounds = std::env::args().nth(1).map_or(21, |rounds| {
        rounds.parse().expect("the argument is a number of rounds")
    });
    let directory = tempfile::tempdir().expect("a directory for artifacts");
    let subjects = subjects(directory.path());
    let mut times = vec![Vec::new(); subjects.len()];
    for _ in 0..rounds {
        for (subject, times) in subjects.iter().zip(&mut times) {
            times.push(subject.start());
        }
    }
    println!("| what starts | median, ms | fastest, ms |\n|---|---|---|");
    for (subject, mut times) in subjects.iter().zip(times) {
        times.sort();
        let ms = |time: Duration| time.as_secs_f64() * 1000.0;
        let (median, fastest) = (ms(times[times.len() / 2]), ms(times[0]));
        println!("| {} | {median:.1} | {fastest:.1} |", subject.name);
    }
}

/// A program that serves the path when it is told where to listen.
struct Subject {
    name: &'static str,
    command: Vec<String>,
}

fn subjects(directory: &Path) -> Vec<Subject> {
    let built = |name: &str| {
        let path = testbed::built(name).expect("`scripts/build` has built it");
        path.display().to_string()
    };
    let host = built("levelfield-host");
    let up = |from: &Path, more: &[&str]| {
        let fixed = [&host, "up", "--quiet", "--log-dir", "", "--from"];
        let from = from.display().to_string();
        let all = fixed
            .iter()
            .copied()
            .chain([from.as_str()])
            .chain(more.iter().copied());
        all.map(str::to_owned).collect()
    };
    let fixed = directory.join("spin.toml");
    let answer = BODY.replace('"', "\\\"");
    let manifest = format!(
        "spin_manifest_version = 2\n[application]\nname = \"fixed\"\n\
         [[trigger.http]]\nroute = \"{PATH}\"\nstatic_response = {{ body = \"{answer}\" }}\n"
    );
    std::fs::write(&fixed, manifest).expect("written");
    let mut subjects = vec![
        Subject {
            name: "native build (axum)",
            command: vec![built("levelfield-native")],
        },
        Subject {
            name: "the host, a static response",
            command: up(&fixed, &[]),
        },
    ];
    let release = testbed::repo_root().join("target/wasm32-wasip2/release");
    for (wasm, names) in [
        (
            "levelfield",
            [
                "WASI 0.3 component, .cwasm",
                "the same without a pool",
                "WASI 0.3 component, .wasm",
            ],
        ),
        (
            "levelfield_wasi02",
            [
                "WASI 0.2 component, .cwasm",
                "the same without a pool",
                "WASI 0.2 component, .wasm",
            ],
        ),
    ] {
        let wasm = release.join(format!("{wasm}.wasm"));
        let artifact = directory.join(wasm.with_extension("cwasm").file_name().expect("a name"));
        let compiled = Command::new(&host)
            .args(["compile", "--from"])
            .arg(&wasm)
            .arg("--out")
            .arg(&artifact)
            .stdout(Stdio::null())
            .status();
        assert!(
            compiled.is_ok_and(|status| status.success()),
            "{} compiles",
            wasm.display()
        );
        let commands = [
            up(&artifact, &[]),
            up(&artifact, &["--disable-pooling"]),
            up(&wasm, &[]),
        ];
        for (name, command) in names.into_iter().zip(commands) {
            subjects.push(Subject { name, command });
        }
    }
    subjects
}

impl Subject {
    /// Starts it, waits for the right answer, ends it.
    fn start(&self) -> Duration {
        let port = testbed::free_port();
        let address = format!("127.0.0.1:{port}");
        let mut command = Command::new(&self.command[0]);
        command
            .args(&self.command[1..])
            .args(["--listen", &address])
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let begin = Instant::now();
        let mut child = command.spawn().expect("it starts");
        let answer = loop {
            assert!(begin.elapsed() < PATIENCE, "{}: no answer", self.name);
            match TcpStream::connect(&address) {
                Ok(stream) => break ask(stream),
                // Short against what is measured, and long enough to leave it the core.
                Err(_) => std::thread::sleep(Duration::from_micros(200)),
            }
        };
        let time = begin.elapsed();
        child.kill().and_then(|()| child.wait()).expect("it ends");
        assert!(
            answer.starts_with("HTTP/1.1 200") && answer.ends_with(BODY),
            "{}: {answer}",
            self.name
        );
        time
    }
}

fn ask(mut stream: TcpStream) -> String {
    let request = format!("GET {PATH} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
    let mut answer = String::new();
    let asked = stream
        .set_read_timeout(Some(PATIENCE))
        .and_then(|()| stream.write_all(request.as_bytes()))
        .and_then(|()| stream.read_to_string(&mut answer));
    asked.map(|_| answer).unwrap_or_default()
}
