//! The flags of `spin up`: each works, or is refused by its name with the way out.

mod common;

use std::net::TcpListener;

use common::{Host, STARTED, command, failure, guest, text, up};
use testbed::{Process, Ready, free_port};

#[test]
fn a_flag_for_what_is_not_here_is_refused_by_name_with_the_way_out() {
    for (flags, way_out) in [
        (
            &["--from-registry", "example.org/app:1"][..],
            "url and digest",
        ),
        (&["--insecure"], "leave it out"),
        (&["--key-value", "a=b"], "`spin up`"),
        (&["--sqlite", "@file.sql"], "`spin up`"),
        (&["--cache", "file.toml"], "`levelfield-host compile`"),
        (&["--debug-info"], "`spin up`"),
        (&["--experimental-wasm-feature", "gc"], "`spin up`"),
        (&["--experimental-wasi-otel"], "`spin up`"),
    ] {
        let said = failure(flags);
        assert!(
            said.starts_with(&format!("error: {}: ", flags[0])),
            "{said}"
        );
        assert!(said.contains(way_out), "{said}");
        let watch = command(&[&["watch"], flags].concat()).output().unwrap();
        assert_eq!(
            String::from_utf8(watch.stderr).unwrap(),
            said,
            "`watch` says it too"
        );
    }
}

#[test]
fn the_listen_address_may_come_from_the_environment() {
    let hello = guest("hello");
    let port = free_port();
    let mut command = command(&["up", "-L", "", "--from", text(&hello)]);
    command.env("SPIN_HTTP_LISTEN_ADDR", format!("localhost:{port}"));
    let host = Host::start(&mut command);
    assert_eq!(
        host.address,
        ([127, 0, 0, 1], port).into(),
        "127.0.0.1 is preferred"
    );
}

#[test]
fn a_free_port_is_found_after_a_taken_one() {
    let port = free_port();
    let _taken = TcpListener::bind(("127.0.0.1", port)).unwrap();
    let hello = guest("hello");
    let address = format!("127.0.0.1:{port}");
    let flags = ["up", "-L", "", "--from", text(&hello), "--listen", &address];
    let said = command(&flags).output().unwrap().stderr;
    let said = String::from_utf8(said).unwrap();
    assert!(said.contains("the port is taken"), "{said}");
    let host = Host::start(&mut command(&[&flags[..], &["--find-free-port"]].concat()));
    assert!(host.address.port() > port && host.address.port() < port + 10);
    assert_eq!(host.get("/").status, 200);
}

#[test]
fn the_size_of_a_head_may_be_set_under_both_names() {
    let long = format!(
        "GET / HTTP/1.1\r\nhost: test\r\nconnection: close\r\nx: {}\r\n\r\n",
        "x".repeat(70_000)
    );
    let hello = guest("hello");
    let status = |host: &Host| host.send(&long).status;
    let ours = Host::up(&["--from", text(&hello), "--max-request-head", "100000"]);
    assert_eq!(status(&ours), 200);
    let spins = Host::up(&["--from", text(&hello), "--http1-max-buf-size", "100000"]);
    assert_eq!(status(&spins), 200);
    let set = Host::start(up(&["--from", text(&hello)]).env("SPIN_HTTP1_MAX_BUF_SIZE", "8192"));
    assert_eq!(status(&set), 431);
    let small = up(&["--http1-max-buf-size", "8191"]).output().unwrap();
    assert_eq!(small.status.code(), Some(2));
}

#[test]
fn routes_are_printed_as_json() {
    let hello = guest("hello");
    let mut command = command(&[
        "up",
        "-L",
        "",
        "--listen",
        "127.0.0.1:0",
        "--format",
        "json",
    ]);
    command.args(["--from", text(&hello)]);
    let process = Process::start(&mut command, Ready::Output("\n}".into()), STARTED).unwrap();
    let said = process.output();
    for line in [
        "\"base_url\": \"http://127.0.0.1:",
        "\"id\": \"hello\"",
        "\"route\": \"/\"",
        "\"wildcard\": true",
    ] {
        assert!(said.contains(line), "{line} in {said}");
    }
}

#[test]
fn the_app_is_built_first_when_asked() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(
        directory.path().join("spin.toml"),
        format!(
            "spin_manifest_version = 2\n[application]\nname = \"a\"\n\
             [[trigger.http]]\nroute = \"/...\"\ncomponent = \"a\"\n\
             [component.a]\nsource = \"built.wasm\"\nbuild.command = \"cp {} built.wasm\"\n",
            text(&guest("hello"))
        ),
    )
    .unwrap();
    let from = ["--from", text(directory.path())];
    assert!(failure(&from).contains("build the app first"));
    for build in [up(&[&from[..], &["--build"]].concat()), {
        let mut command = up(&from);
        command.env("SPIN_ALWAYS_BUILD", "1");
        command
    }] {
        let mut build = build;
        let host = Host::start(&mut build);
        assert_eq!(host.get("/").status, 200);
        drop(host);
        std::fs::remove_file(directory.path().join("built.wasm")).expect("it was built");
    }
}

#[test]
fn the_runtime_config_may_come_from_the_environment() {
    let directory = tempfile::tempdir().unwrap();
    let config = directory.path().join("runtime.toml");
    let logs = directory.path().join("kept");
    std::fs::write(&config, format!("log_dir = {logs:?}\n")).unwrap();
    let hello = guest("hello");
    let mut command = command(&["up", "--listen", "127.0.0.1:0", "--from", text(&hello)]);
    let host = Host::start(command.env("RUNTIME_CONFIG_FILE", &config));
    assert_eq!(host.get("/").status, 200);
    assert!(logs.join("hello_stdout.txt").is_file());
}

#[test]
fn flags_that_change_nothing_seen_from_outside_are_taken() {
    let hello = guest("hello");
    let host = Host::up(&[
        "--from",
        text(&hello),
        "--disable-pooling",
        "--disable-cache",
    ]);
    assert_eq!(host.get("/").status, 200);
    let wrong = up(&["--idle-instance-timeout", "1s..2s"]).output().unwrap();
    assert!(
        String::from_utf8(wrong.stderr)
            .unwrap()
            .contains("a range is not taken")
    );
}

#[test]
fn the_first_404_is_hinted_at_once_and_only_on_a_terminal() {
    let hello = guest("hello");
    let directory = tempfile::tempdir().unwrap();
    let manifest = directory.path().join("spin.toml");
    std::fs::write(
        &manifest,
        format!(
            "spin_manifest_version = 2\n[application]\nname = \"a\"\n\
             [[trigger.http]]\nroute = \"/a\"\ncomponent = \"a\"\n[component.a]\nsource = {hello:?}\n"
        ),
    )
    .unwrap();
    let hint = "hint: no route takes /none";
    let plain = Host::up(&["--from", text(&manifest)]);
    assert_eq!(plain.get("/none").status, 404);
    // `script` gives what it runs a terminal.
    let line = format!(
        "exec {:?} up -L '' --listen 127.0.0.1:0 --from {manifest:?}",
        env!("CARGO_BIN_EXE_levelfield-host")
    );
    let mut command = std::process::Command::new("script");
    command.args(["--quiet", "--return", "--command", &line, "/dev/null"]);
    let host = Host::start(&mut command);
    assert_eq!(host.get("/a").status, 200);
    assert_eq!(host.get("/none").status, 404);
    assert_eq!(host.get("/none").status, 404);
    assert!(host.wait_for_output(hint), "{}", host.output());
    assert_eq!(host.output().matches(hint).count(), 1);
    assert!(!plain.output().contains(hint));
}
