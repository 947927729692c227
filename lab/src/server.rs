//! A target that was started: on a fresh port, in a process group of its own, inside its limits, and really the one
//! that answers there.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use testbed::{Process, Ready, free_port};

use crate::config::{Config, Target};
use crate::http::{Connection, Origin, Request};
use crate::limits::Confinement;
use crate::services::Services;
use crate::{leftovers, programs, sockets};

/// How often readiness is probed; a cold start is known to this.
const PROBE: Duration = Duration::from_millis(1);
const PROBE_PATIENCE: Duration = Duration::from_secs(5);

#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    #[error("{0}")]
    Lack(programs::Lack),
    #[error(transparent)]
    Start(#[from] testbed::Error),
    #[error("{name} ended early with {status}; its output:\n{output}")]
    Ended {
        name: String,
        status: std::process::ExitStatus,
        output: String,
    },
    #[error(
        "{name} did not answer {probe} with {expected} within {within:?}; last: {last}; its output:\n{output}"
    )]
    NotReady {
        name: String,
        probe: String,
        expected: u16,
        within: Duration,
        last: String,
        output: String,
    },
    /// It serves, and what it serves is wrong: waiting longer would not change that.
    #[error("{name} answered {probe} with a body that is not the one expected: {start}")]
    WrongBody {
        name: String,
        probe: String,
        start: String,
    },
    #[error(transparent)]
    Owner(#[from] sockets::OwnerError),
}

/// What must answer before a server counts as started.
pub struct Probe<'a> {
    pub path: &'a str,
    pub status: u16,
    pub body: Option<&'a [u8]>,
}

impl<'a> Probe<'a> {
    /// The target's own probe, or else the contract's first route.
    pub fn of(target: &'a Target) -> Self {
        Self {
            path: target.ready.as_deref().unwrap_or("/helloWorld"),
            status: 200,
            body: None,
        }
    }
}

/// Stopped, with all that it started, when dropped.
pub struct Server {
    pub origin: Origin,
    pub process: Process,
    /// From the moment before the spawn to the first right answer.
    pub started_in: Duration,
}

impl Server {
    pub fn launch(
        config: &Config,
        target: &Target,
        services: &Services,
        confinement: Option<&Confinement>,
        probe: &Probe<'_>,
        within: Duration,
    ) -> Result<Self, LaunchError> {
        let program = programs::of_target(config, target).map_err(LaunchError::Lack)?;
        let port = free_port();
        let mut command = command(config, target, services, &program, port);
        if let Some(confinement) = confinement {
            confinement.enter(&mut command);
        }
        let origin = Origin::from(std::net::SocketAddr::from(([127, 0, 0, 1], port)));
        let began = Instant::now();
        let process = Process::start(&mut command, Ready::AtOnce, within)?;
        let mut server = Self {
            origin,
            process,
            started_in: Duration::ZERO,
        };
        server.wait_until_ready(&target.name, probe, within)?;
        server.started_in = began.elapsed();
        sockets::check_owner(port, server.process.pid())?;
        Ok(server)
    }

    fn wait_until_ready(
        &mut self,
        name: &str,
        probe: &Probe<'_>,
        within: Duration,
    ) -> Result<(), LaunchError> {
        let deadline = Instant::now() + within;
        loop {
            let answer = ask(&self.origin, probe.path);
            if let Some(status) = self.process.exited() {
                std::thread::sleep(PROBE * 10); // lets the last of the output arrive
                return Err(LaunchError::Ended {
                    name: name.to_owned(),
                    status,
                    output: self.process.output(),
                });
            }
            let last = match answer {
                Ok(answer) if answer.status == probe.status => {
                    if probe.body.is_none_or(|body| body == answer.body) {
                        return Ok(());
                    }
                    let start = &answer.body[..answer.body.len().min(80)];
                    return Err(LaunchError::WrongBody {
                        name: name.to_owned(),
                        probe: probe.path.to_owned(),
                        start: start.escape_ascii().to_string(),
                    });
                }
                Ok(answer) => format!("{} with {} bytes", answer.status, answer.body.len()),
                Err(error) => error.to_string(),
            };
            if Instant::now() > deadline {
                return Err(LaunchError::NotReady {
                    name: name.to_owned(),
                    probe: probe.path.to_owned(),
                    expected: probe.status,
                    within,
                    last,
                    output: self.process.output(),
                });
            }
            std::thread::sleep(PROBE);
        }
    }

    /// Stops it, and waits until nothing listens on its port any more.
    pub fn stop(mut self) -> std::process::ExitStatus {
        let status = self.process.stop();
        let deadline = Instant::now() + Duration::from_secs(2);
        while Connection::open(&self.origin, PROBE_PATIENCE).is_ok() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(10));
        }
        status
    }
}

fn ask(origin: &Origin, target: &str) -> Result<crate::http::Response, crate::http::ExchangeError> {
    let request = Request {
        method: "GET",
        target,
    };
    Connection::open(origin, PROBE_PATIENCE)?.exchange(request, PROBE_PATIENCE)
}

fn command(
    config: &Config,
    target: &Target,
    services: &Services,
    program: &Path,
    port: u16,
) -> Command {
    let mut placeholders = services.placeholders();
    placeholders.set("port", port);
    let mut command = Command::new(program);
    command
        .current_dir(match &target.cwd {
            Some(cwd) => config.path(cwd),
            None => config.dir.clone(),
        })
        .args(
            target.command[1..]
                .iter()
                .map(|word| placeholders.fill(word)),
        )
        .envs(
            target
                .env
                .iter()
                .map(|(key, value)| (key, placeholders.fill(value))),
        );
    leftovers::mark(&mut command);
    command
}
