//! A run that was killed cannot clean up: the next one does. Alone in its file, since any run at the same time would too.

mod support;

use std::path::PathBuf;
use std::time::Duration;

use support::bench::{Bench, cgroups, marked, stderr, wait_until};
use testbed::{Process, Ready};

#[test]
fn the_next_run_ends_what_a_killed_one_left() {
    let bench = Bench::new();
    // Its server is a grandchild: nothing but the next run can end it.
    let mut command = bench.command(&[
        "--targets",
        "two",
        "--blocks",
        "50",
        "--profiles",
        "fixed-rate",
    ]);
    let mut run = Process::start(
        &mut command,
        Ready::Output("   1/".into()),
        Duration::from_secs(60),
    )
    .unwrap();
    let pid = run.pid();
    wait_until("a server runs", || marked(pid).len() >= 2);
    run.kill();
    let left = marked(pid);
    assert!(
        !left.is_empty() || !cgroups(pid).is_empty(),
        "the kill came between two trials"
    );
    let output = bench.run(&["--quick", "--targets", "one", "--profiles", "cold-start"]);
    assert!(
        stderr(&output).contains("ended what a killed run had left"),
        "{}",
        stderr(&output)
    );
    wait_until("what was left is gone", || marked(pid).is_empty());
    assert_eq!(cgroups(pid), [] as [PathBuf; 0]);
}
