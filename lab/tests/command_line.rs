//! The command line as a person or a script uses it: closed pipes, completions, names of what is not there.

mod support;

use std::process::{Command, Stdio};

use lab::bench::Contestant;
use lab::config::Config;
use support::bench::{BENCH, Bench};

fn levelfield(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_levelfield"));
    command.args(args).current_dir(testbed::repo_root());
    command
}

#[test]
fn a_reader_that_leaves_ends_it_silently() {
    for args in [
        &["list"][..],
        &["completions", "bash"],
        &["doctor"],
        &["check", "--url"],
    ] {
        let address = server_that_answers_nothing_right();
        let url = format!("http://{address}");
        let mut args = args.to_vec();
        if args == ["check", "--url"] {
            args.push(&url);
        }
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = levelfield(&args)
            .stdout(writer)
            .stderr(Stdio::piped())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(
            (output.status.code(), said.as_ref()),
            (Some(141), ""),
            "{args:?}"
        );
    }
}

/// Refuses every connection after the first, so that a check of it is short.
fn server_that_answers_nothing_right() -> std::net::SocketAddr {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || drop(listener.accept()));
    address
}

#[test]
fn every_shell_has_its_completions() {
    for shell in ["bash", "zsh", "fish"] {
        let output = levelfield(&["completions", shell]).output().unwrap();
        let script = String::from_utf8(output.stdout).unwrap();
        assert!(
            output.status.success() && script.contains("levelfield"),
            "{shell}"
        );
        for command in ["bench", "check", "compare", "doctor", "list", "report"] {
            assert!(script.contains(command), "{shell}: {command}");
        }
    }
}

#[test]
fn every_target_is_listed_with_what_it_lacks() {
    let output = levelfield(&["list"]).output().unwrap();
    let list = String::from_utf8(output.stdout).unwrap();
    let config = Config::load(Some(&testbed::repo_root().join("bench.toml"))).unwrap();
    for target in &config.targets {
        let line = list
            .lines()
            .find(|line| line.split(' ').next() == Some(&target.name));
        let line = line.unwrap_or_else(|| panic!("{} is not in:\n{list}", target.name));
        let told = ["ready", "missing ", "not built: "];
        assert!(
            told.iter()
                .any(|state| line.contains(&format!("; {state}"))),
            "{line}"
        );
    }
}

#[test]
fn dependencies_are_counted_once_each_and_a_timed_build_is_told_by_later_reports() {
    let bench = Bench::new();
    let toml = bench.dir.path().join("bench.toml");
    let counted = BENCH.replacen(
        "contract = false",
        "contract = false\n\
         dependencies = [\"sh\", \"-c\", \"printf 'a\\nb\\na\\n'\"]\n\
         clean_build = [\"sh\", \"-c\", \"sleep 0.3; ls $BUILD_DIR >built\"]",
        1,
    );
    std::fs::write(&toml, counted).unwrap();
    let described = || {
        let config = Config::load(Some(&toml)).unwrap();
        let mut one = [Contestant::all(&config, &[])[0].described(&config)];
        lab::inventory::count_dependencies(&config, &mut one);
        let [one] = one;
        (one.dependencies, one.build_seconds)
    };
    assert_eq!(described(), (Some(2), None));

    let output = levelfield(&["build-times", "--targets", "one,two", "--config"])
        .arg(&toml)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
    assert!(
        said.contains("one: 0.") && said.contains("two: bench.toml gives it no clean_build"),
        "{said}"
    );
    assert_eq!(
        std::fs::read_to_string(bench.dir.path().join("built")).unwrap(),
        "",
        "from nothing"
    );
    let seconds = described().1.unwrap();
    assert!((0.3..10.0).contains(&seconds), "{seconds}");
}

#[test]
fn a_build_that_fails_has_no_time() {
    let bench = Bench::new();
    let toml = bench.dir.path().join("bench.toml");
    let failing =
        "contract = false\nclean_build = [\"sh\", \"-c\", \"echo no compiler >&2; exit 3\"]";
    std::fs::write(&toml, BENCH.replacen("contract = false", failing, 1)).unwrap();
    let output = levelfield(&["build-times", "--targets", "one", "--config"])
        .arg(&toml)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1));
    assert!(said.contains("no compiler"), "{said}");
}
