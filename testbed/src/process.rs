//! A child process: in a group of its own, its output kept, ready or failed by a deadline, and
//! gone when the value is dropped.

use std::io::Read;
use std::net::{SocketAddr, TcpStream};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::{Error, Result, http, spawner};

/// How often a state is looked at while waiting for it.
const POLL: Duration = Duration::from_millis(10);
/// How much of a program's latest output is kept.
const OUTPUT_KEPT: usize = 256 * 1024;

/// What must be true before a process counts as started.
pub enum Ready {
    /// It runs; nothing is waited for.
    AtOnce,
    /// Something accepts connections at this address.
    Port(SocketAddr),
    /// A GET of this `http://` URL answers 200.
    Http(String),
    /// Its output contains this text.
    Output(String),
}

/// A running program. Dropping it stops it: SIGTERM, a grace period, SIGKILL, to its whole group.
pub struct Process {
    name: String,
    child: Child,
    output: Arc<Mutex<Vec<u8>>>,
    grace: Duration,
}

/// What a program that ran to its end left.
#[derive(Debug)]
pub struct Finished {
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
}

impl Process {
    /// Starts `command` and waits until it is ready.
    ///
    /// # Errors
    /// It cannot be started, it exits early, or it is not ready in time; the message holds the
    /// last of its output.
    pub fn start(command: &mut Command, ready: Ready, within: Duration) -> Result<Self> {
        let (name, mut child) = spawn(command)?;
        let output = Arc::default();
        collect(child.stdout.take(), &output);
        collect(child.stderr.take(), &output);
        let mut process = Self {
            name,
            child,
            output,
            grace: Duration::from_secs(5),
        };
        process.wait_until_ready(&ready, within)?;
        Ok(process)
    }

    fn wait_until_ready(&mut self, ready: &Ready, within: Duration) -> Result<()> {
        let deadline = Instant::now() + within;
        loop {
            let is_ready = match ready {
                Ready::AtOnce => true,
                Ready::Port(address) => {
                    TcpStream::connect_timeout(address, Duration::from_secs(1)).is_ok()
                }
                Ready::Http(url) => http::get(url).is_ok_and(|answer| answer.status == 200),
                Ready::Output(text) => self.output().contains(text),
            };
            // Looked at second: whatever answered must not be another program on the same port.
            if let Some(status) = self.exited() {
                sleep(POLL); // lets the last of the output arrive
                return Err(self.failure(&format!("ended early with {status}")));
            }
            if is_ready {
                return Ok(());
            }
            if Instant::now() > deadline {
                return Err(self.failure(&format!("was not ready within {within:?}")));
            }
            sleep(POLL);
        }
    }

    fn failure(&self, what: &str) -> Error {
        Error::Failed(format!(
            "{} {what}; its output:\n{}",
            self.name,
            self.output()
        ))
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The latest of what it wrote to standard output and standard error, as it arrived.
    pub fn output(&self) -> String {
        let output = self.output.lock().expect("no holder panics");
        String::from_utf8_lossy(&output).into_owned()
    }

    /// Waits until its output contains `text`; false if it does not by the deadline.
    pub fn wait_for_output(&self, text: &str, within: Duration) -> bool {
        let deadline = Instant::now() + within;
        while !self.output().contains(text) {
            if Instant::now() > deadline {
                return false;
            }
            sleep(POLL);
        }
        true
    }

    /// Its exit status, if it has ended.
    pub fn exited(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// Waits for it to end; `None` if it still runs at the deadline.
    pub fn wait(&mut self, within: Duration) -> Option<ExitStatus> {
        let deadline = Instant::now() + within;
        loop {
            match self.exited() {
                None if Instant::now() < deadline => sleep(POLL),
                status => return status,
            }
        }
    }

    /// Sends a signal, such as `libc::SIGHUP`, to the process alone.
    pub fn signal(&self, signal: i32) {
        send_signal(self.child.id() as i32, signal);
    }

    /// How long it may take to end after SIGTERM before it is killed; 5 s unless set.
    pub fn set_grace(&mut self, grace: Duration) {
        self.grace = grace;
    }

    /// Ends it as a supervisor does: SIGTERM, the grace period, SIGKILL.
    pub fn stop(&mut self) -> ExitStatus {
        if self.exited().is_none() {
            send_signal(-(self.child.id() as i32), libc::SIGTERM);
            self.wait(self.grace);
        }
        self.kill()
    }

    /// Ends it, and whatever it started, without asking.
    pub fn kill(&mut self) -> ExitStatus {
        send_signal(-(self.child.id() as i32), libc::SIGKILL);
        self.child
            .wait()
            .expect("a child of ours can be waited for")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Runs a program to its end, as one that refuses its input should soon reach.
///
/// # Errors
/// It cannot be started, or it still runs at the deadline.
pub fn run(command: &mut Command, within: Duration) -> Result<Finished> {
    let (name, mut child) = spawn(command)?;
    let (stdout, stderr) = (Arc::default(), Arc::default());
    let readers = [
        collect(child.stdout.take(), &stdout),
        collect(child.stderr.take(), &stderr),
    ];
    let mut process = Process {
        name,
        child,
        output: Arc::clone(&stderr),
        grace: Duration::ZERO,
    };
    let Some(status) = process.wait(within) else {
        return Err(process.failure(&format!("still ran after {within:?}")));
    };
    // Nothing it started may hold the pipes open.
    process.kill();
    for reader in readers.into_iter().flatten() {
        reader.join().expect("a reader does not panic");
    }
    let text = |bytes: Arc<Mutex<Vec<u8>>>| {
        String::from_utf8_lossy(&bytes.lock().expect("no holder panics")).into_owned()
    };
    Ok(Finished {
        status,
        stdout: text(stdout),
        stderr: text(stderr),
    })
}

fn spawn(command: &mut Command) -> Result<(String, Child)> {
    let name = command.get_program().to_string_lossy().into_owned();
    // Taken out of the caller's hands, because the spawner thread has to own it.
    let mut command = std::mem::replace(command, Command::new(""));
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    match spawner::spawn(command) {
        Ok(child) => Ok((name, child)),
        Err(error) => Err(Error::Failed(format!("cannot start {name}: {error}"))),
    }
}

type Reader = std::thread::JoinHandle<()>;

fn collect(pipe: Option<impl Read + Send + 'static>, into: &Arc<Mutex<Vec<u8>>>) -> Option<Reader> {
    let mut pipe = pipe?;
    let into = Arc::clone(into);
    Some(std::thread::spawn(move || {
        let mut chunk = [0; 8192];
        while let Ok(length @ 1..) = pipe.read(&mut chunk) {
            let mut output = into.lock().expect("no holder panics");
            output.extend_from_slice(&chunk[..length]);
            if output.len() > OUTPUT_KEPT {
                let surplus = output.len() - OUTPUT_KEPT / 2;
                output.drain(..surplus);
            }
        }
    }))
}

/// To a process, or with a negative number to a process group. One that is gone is no error.
#[allow(unsafe_code)]
fn send_signal(pid: i32, signal: i32) {
    // SAFETY: kill has no memory effects; the number is that of a child of ours.
    unsafe {
        libc::kill(pid, signal);
    }
}
