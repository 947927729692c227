//! What is wrong is told in one line that names it and the way out, and with an exit code that says so.

mod common;

use std::fs;

/// The one line on stderr with which `up` of this app ends.
fn error(manifest: &str, arguments: &[&str]) -> String {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("spin.toml"), manifest).unwrap();
    let from = directory.path().to_str().expect("UTF-8");
    let fixed = [
        "up",
        "--listen",
        "127.0.0.1:0",
        "--log-dir",
        "",
        "--from",
        from,
    ];
    let output = common::command(&[&fixed, arguments].concat())
        .output()
        .expect("the host runs");
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty(), "nothing is served");
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(text.lines().count(), 1, "{text}");
    text
}

const HEAD: &str = "spin_manifest_version = 2\n[application]\nname = \"test\"\n";

#[test]
fn a_broken_manifest_is_told_with_its_line() {
    let text = error("spin_manifest_version = 2\n[application\n", &[]);
    assert!(text.contains("spin.toml:2:"), "{text}");
}

#[test]
fn a_missing_wasm_file_is_told_with_its_component_and_the_way_out() {
    let manifest = format!("{HEAD}[component.hello]\nsource = \"nothing.wasm\"\n");
    let text = error(&manifest, &[]);
    assert!(
        text.contains("component `hello`: no wasm file at"),
        "{text}"
    );
    assert!(text.contains("build the app first"), "{text}");
}

#[test]
fn a_required_variable_without_a_value_is_told_with_the_way_out() {
    let text = error(&format!("{HEAD}[variables.token]\nrequired = true\n"), &[]);
    assert!(
        text.contains("`token`; give one with --variable token=VALUE or SPIN_VARIABLE_TOKEN"),
        "{text}"
    );
}

#[test]
fn a_broken_argument_is_told_with_its_form() {
    for argument in [
        "--env=NOVALUE",
        "--variable=novalue",
        "--variable=@file.yaml",
    ] {
        let output = common::command(&["up", argument])
            .output()
            .expect("the host runs");
        assert_eq!(output.status.code(), Some(2), "{argument}");
        let text = String::from_utf8(output.stderr).unwrap();
        let value = argument.split_once('=').expect("a value").1;
        assert!(text.contains(&format!("`{value}`")), "{text}");
    }
}

#[test]
fn an_unknown_component_is_told_with_those_there_are() {
    let text = error(HEAD, &["--component-id", "nobody"]);
    assert!(text.contains("unknown component `nobody`"), "{text}");
}

#[test]
fn a_runtime_config_that_is_not_honoured_is_refused_by_name() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("runtime.toml");
    fs::write(&path, "[key_value_store.default]\ntype = \"spin\"\n").unwrap();
    let text = error(
        HEAD,
        &["--runtime-config-file", path.to_str().expect("UTF-8")],
    );
    assert!(
        text.contains("needs `key_value_store`, which this host does not provide"),
        "{text}"
    );
}
