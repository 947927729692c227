//! The limits that this machine can set, set for real: what is inside cannot have more.

use std::process::Command;
use std::time::Duration;

use lab::limits::{Affinity, Backend, CgroupV1, Confinement, Cpu, CpuSet, Spec};
use lab::usage::MemorySampler;
use testbed::{Missing, Process, Ready, run};

const SPIN: &str = "import threading\nfor _ in range(3): threading.Thread(target=lambda: None).start()\nwhile True: pass";

fn cgroup_v1(part: &str) -> Option<CgroupV1> {
    let backend = CgroupV1::detect();
    if backend.is_none() {
        let missing = Missing {
            what: "cgroup v1, mounted and writable".into(),
            remedy: "run on a machine that has it".into(),
        };
        testbed::not_run(part, &missing);
    }
    backend
}

fn spec(cpu: Cpu, memory_mb: u64) -> Spec {
    Spec {
        cpu,
        memory_bytes: memory_mb << 20,
    }
}

fn python(confinement: &Confinement, code: &str) -> Command {
    let mut command = Command::new("python3");
    command.args(["-c", code]);
    confinement.enter(&mut command);
    command
}

fn one_cpu() -> CpuSet {
    CpuSet::allowed().split(1).0
}

#[test]
fn cgroup_v1_enforces_a_cpu_quota_and_counts_what_was_used() {
    let Some(backend) = cgroup_v1("a cgroup v1 quota") else {
        return;
    };
    let confinement = backend.confine(&spec(Cpu::Quota(0.25), 128)).unwrap();
    let mut spinning: Vec<Process> = (0..2)
        .map(|_| {
            Process::start(
                &mut python(&confinement, SPIN),
                Ready::AtOnce,
                Duration::from_secs(5),
            )
            .unwrap()
        })
        .collect();
    let group = spinning[0].pid();
    let before = confinement.usage(&[group]).unwrap();
    std::thread::sleep(Duration::from_secs(2));
    let after = confinement.usage(&[group]).unwrap();
    let used = after.cpu_seconds - before.cpu_seconds;
    assert!(used > 0.02, "two spinning processes used {used} s");
    assert!(
        used < 1.0,
        "a quarter of a core for 2 s is 0.5 s, and {used} s were used"
    );
    assert!(after.throttled_seconds.unwrap() > 0.0, "{after:?}");
    for process in &mut spinning {
        process.kill();
    }
}

#[test]
fn cgroup_v1_pins_whatever_the_lab_itself_is_pinned_to() {
    let Some(backend) = cgroup_v1("cgroup v1 pinning") else {
        return;
    };
    let cpu = one_cpu();
    let confinement = backend.confine(&spec(Cpu::Pin(cpu.clone()), 128)).unwrap();
    let code = "import os; os.sched_setaffinity(0, range(os.cpu_count())); print(sorted(os.sched_getaffinity(0)))";
    let finished = run(&mut python(&confinement, code), Duration::from_secs(20)).unwrap();
    assert_eq!(
        finished.stdout.trim(),
        format!("{:?}", cpu.cpus()),
        "it cannot break out"
    );
}

#[test]
fn cgroup_v1_kills_what_passes_its_memory() {
    let Some(backend) = cgroup_v1("a cgroup v1 memory limit") else {
        return;
    };
    let confinement = backend.confine(&spec(Cpu::Pin(one_cpu()), 48)).unwrap();
    let code = "block = bytearray(200 << 20)\nprint('allocated')";
    let finished = run(&mut python(&confinement, code), Duration::from_secs(20)).unwrap();
    assert!(
        !finished.status.success() && finished.stdout.is_empty(),
        "{finished:?}"
    );
    assert!(confinement.usage(&[]).unwrap().oom_kills.unwrap() >= 1);
}

#[test]
fn a_cgroup_is_gone_with_its_confinement_and_so_is_what_was_inside() {
    let Some(backend) = cgroup_v1("removing cgroups") else {
        return;
    };
    let groups = || {
        let name = format!("levelfield-{}-", std::process::id());
        std::fs::read_dir(&backend.memory)
            .unwrap()
            .flatten()
            .filter(|entry| entry.file_name().to_string_lossy().starts_with(&name))
            .map(|entry| entry.path())
            .collect::<Vec<_>>()
    };
    let before = groups();
    let confinement = backend.confine(&spec(Cpu::Pin(one_cpu()), 128)).unwrap();
    let mut inside = Process::start(
        &mut python(&confinement, SPIN),
        Ready::AtOnce,
        Duration::from_secs(5),
    )
    .unwrap();
    let own: Vec<_> = groups()
        .into_iter()
        .filter(|group| !before.contains(group))
        .collect();
    drop(confinement);
    assert!(
        inside.wait(Duration::from_secs(5)).is_some(),
        "it still runs"
    );
    assert!(own.iter().any(|group| !group.exists()), "{own:?}");
}

#[test]
fn affinity_pins_and_counts() {
    let cpu = one_cpu();
    let confinement = Affinity.confine(&spec(Cpu::Pin(cpu.clone()), 128)).unwrap();
    let code = "import os; print(sorted(os.sched_getaffinity(0)))";
    let finished = run(&mut python(&confinement, code), Duration::from_secs(20)).unwrap();
    assert_eq!(finished.stdout.trim(), format!("{:?}", cpu.cpus()));

    let mut spinning = Process::start(
        &mut python(&confinement, SPIN),
        Ready::AtOnce,
        Duration::from_secs(5),
    )
    .unwrap();
    std::thread::sleep(Duration::from_millis(1500));
    let used = confinement.usage(&[spinning.pid()]).unwrap();
    assert!(used.cpu_seconds > 0.05, "{used:?}");
    spinning.kill();
}

#[test]
fn without_cgroups_memory_is_watched_and_the_server_ended() {
    let confinement = Affinity.confine(&spec(Cpu::Quota(1.0), 64)).unwrap();
    let code = "import time\nblock = bytearray(b'x' * (150 << 20))\ntime.sleep(60)";
    let mut greedy = Process::start(
        &mut python(&confinement, code),
        Ready::AtOnce,
        Duration::from_secs(5),
    )
    .unwrap();
    let sampler = MemorySampler::start(vec![greedy.pid()], confinement.watched_memory());
    assert!(
        greedy.wait(Duration::from_secs(20)).is_some(),
        "it was not ended"
    );
    let memory = sampler.finish();
    assert!(
        memory.over_limit && memory.peak_bytes > 64 << 20,
        "{memory:?}"
    );
}
