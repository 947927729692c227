//! The host's own lines on stderr.

mod common;

use common::{Host, guest};

#[test]
fn with_json_every_line_of_the_hosts_own_is_an_object() {
    let mut host = Host::with_guest(
        "trap",
        &[
            "--log-format",
            "json",
            "-q",
            "--admin-listen",
            "127.0.0.1:0",
        ],
    );
    host.get("/bad");
    assert!(host.wait_for_output("request failed"));
    host.terminate();
    host.wait();
    let output = host.output();
    // What is printed on stdout, where the app is served, is for people.
    let printed = |line: &&str| {
        ["Serving", "Available", "  "]
            .iter()
            .any(|p| line.starts_with(p))
    };
    let own: Vec<_> = output.lines().filter(|line| !printed(line)).collect();
    assert!(own.len() >= 4, "admin, stop, trap and request: {own:?}");
    for line in own {
        let line: serde_json::Value = serde_json::from_str(line).expect(line);
        for key in ["timestamp", "level", "target"] {
            assert!(line[key].is_string(), "{line}");
        }
        assert!(line["fields"]["message"].is_string(), "{line}");
    }
}

#[test]
fn the_level_is_set_by_flag_or_variable_and_there_is_no_access_log() {
    let quiet = Host::with_guest("trap", &["-q", "--log-level", "error"]);
    quiet.get("/bad");
    quiet.get("/");
    assert!(!quiet.output().contains("request failed"));
    let default = Host::with_guest("trap", &["-q"]);
    default.get("/well");
    default.get("/bad");
    assert!(default.wait_for_output("request failed"));
    assert!(!default.output().contains("/well"), "{}", default.output());
    let from = guest("trap");
    let debug = Host::up_with(
        &["--from", from.to_str().unwrap()],
        &[("RUST_LOG", "levelfield_host=debug")],
    );
    debug.get("/bad");
    assert!(debug.wait_for_output("instance retired"));
}

#[test]
fn an_unknown_level_is_refused() {
    let output = common::command(&["up", "--log-level", "levelfield_host=loud"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("--log-level"), "{text}");
}
