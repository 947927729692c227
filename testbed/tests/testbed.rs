//! The testbed keeps its promises: what it starts is ready, and what it stops is gone.

use std::process::Command;
use std::time::{Duration, Instant};

use testbed::mongo::{Kind, Mongo, read_documents};
use testbed::{Error, Process, Ready, free_port, repo_root, run, tool};

const SOON: Duration = Duration::from_secs(10);

fn is_alive(pid: u32) -> bool {
    // A zombie still has a directory; only its state tells.
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| {
        !stat
            .rsplit(')')
            .next()
            .unwrap_or("")
            .trim_start()
            .starts_with('Z')
    })
}

#[test]
fn dropping_a_process_ends_it_and_its_children() {
    let mut shell = Command::new("sh");
    shell.args(["-c", "sleep 300 & echo child $!; wait"]);
    let process = Process::start(&mut shell, Ready::Output("child ".into()), SOON).unwrap();
    let output = process.output();
    let child: u32 = output.trim().rsplit(' ').next().unwrap().parse().unwrap();
    let pid = process.pid();
    assert!(is_alive(pid) && is_alive(child));
    drop(process);
    assert!(!is_alive(pid));
    let deadline = Instant::now() + SOON;
    while is_alive(child) {
        assert!(
            Instant::now() < deadline,
            "the grandchild {child} is still there"
        );
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_process_that_ignores_sigterm_is_killed_after_its_grace() {
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' TERM; echo up; while :; do sleep 1; done"]);
    let mut process = Process::start(&mut shell, Ready::Output("up".into()), SOON).unwrap();
    process.set_grace(Duration::from_millis(200));
    assert!(!process.stop().success());
}

#[test]
fn a_process_that_ends_early_shows_its_output() {
    let mut shell = Command::new("sh");
    shell.args(["-c", "echo no such seed >&2; exit 3"]);
    let port = ([127, 0, 0, 1], free_port()).into();
    let Err(Error::Failed(message)) = Process::start(&mut shell, Ready::Port(port), SOON) else {
        panic!("it cannot have started");
    };
    assert!(message.contains("no such seed"), "{message}");
    assert!(message.contains("exit status: 3"), "{message}");
}

#[test]
fn a_run_is_bounded_in_time() {
    let mut sleep = Command::new("sleep");
    sleep.arg("300");
    let before = Instant::now();
    assert!(run(&mut sleep, Duration::from_millis(200)).is_err());
    assert!(before.elapsed() < SOON);
}

#[test]
fn a_run_keeps_stdout_and_stderr_apart() {
    let mut shell = Command::new("sh");
    shell.args(["-c", "echo out; echo err >&2; exit 2"]);
    let finished = run(&mut shell, SOON).unwrap();
    assert_eq!(finished.status.code(), Some(2));
    assert_eq!((&*finished.stdout, &*finished.stderr), ("out\n", "err\n"));
}

#[test]
fn a_port_is_given_out_once() {
    let mut ports: Vec<u16> = (0..100).map(|_| free_port()).collect();
    ports.sort_unstable();
    ports.dedup();
    assert_eq!(ports.len(), 100);
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let missing = tool("no-such-program").unwrap_err();
    assert!(missing.to_string().contains("no-such-program"), "{missing}");
}

#[test]
fn every_kind_of_server_holds_the_seed_and_keeps_it_over_a_restart() {
    let seed = read_documents(&repo_root().join("contract/seed.jsonl")).unwrap();
    for kind in Kind::OURS {
        let mut mongo = match Mongo::start_kind(kind) {
            Ok(mongo) => mongo,
            Err(Error::Missing(missing)) => {
                testbed::not_run(&format!("testbed with {}", kind.name()), &missing);
                continue;
            }
            Err(error) => panic!("{error}"),
        };
        let count = bson::doc! { "count": "users" };
        let before = mongo.command("mongo", count.clone()).unwrap();
        assert_eq!(
            before.get_i32("n").unwrap() as usize,
            seed.len(),
            "{}",
            kind.name()
        );
        mongo.stop();
        mongo.restart(&[]).unwrap();
        let after = mongo.command("mongo", count).unwrap();
        assert_eq!(after.get("n"), before.get("n"), "{}", kind.name());
    }
}
