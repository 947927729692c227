//! Spawns children that cannot outlive this process, however it ends.
//!
//! Linux's parent-death signal fires when the *thread* that spawned the child ends. A test's
//! thread ends before the process does, so all children are spawned by one thread that lives as
//! long as the process.

use std::io;
use std::process::{Child, Command};
use std::sync::{OnceLock, mpsc};

type Job = (Command, mpsc::Sender<io::Result<Child>>);

pub fn spawn(mut command: Command) -> io::Result<Child> {
    static SPAWNER: OnceLock<mpsc::Sender<Job>> = OnceLock::new();
    die_with_parent(&mut command);
    let spawner = SPAWNER.get_or_init(|| {
        let (jobs, inbox) = mpsc::channel::<Job>();
        std::thread::Builder::new()
            .name("testbed-spawner".into())
            .spawn(move || {
                for (mut command, reply) in inbox {
                    // A caller that is gone has no use for its child's handle.
                    let _ = reply.send(command.spawn());
                }
            })
            .expect("a thread can be started");
        jobs
    });
    let (reply, answer) = mpsc::channel();
    spawner
        .send((command, reply))
        .map_err(|_| io::Error::other("the spawner thread is gone"))?;
    answer
        .recv()
        .map_err(|_| io::Error::other("the spawner thread is gone"))?
}

#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
fn die_with_parent(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    // SAFETY: the closure runs between fork and exec and makes one async-signal-safe system call;
    // it neither allocates nor locks.
    unsafe {
        command.pre_exec(|| {
            if libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) == 0 {
                Ok(())
            } else {
                Err(io::Error::last_os_error())
            }
        });
    }
}

#[cfg(not(target_os = "linux"))]
fn die_with_parent(_command: &mut Command) {}
