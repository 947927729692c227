//! `compile` and starting from what it wrote.

mod common;

use std::fs;
use std::path::Path;

use common::{Host, command, failure, guest, text};

/// Compiles a guest to this file.
fn compile(name: &str, out: &Path) {
    let output = command(&["compile", "--from", text(&guest(name)), "--out", text(out)])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(said.trim_end(), text(out), "it says what it wrote");
}

#[test]
fn an_app_starts_from_the_artifact_of_either_wasi() {
    let directory = tempfile::tempdir().unwrap();
    for (name, body) in [("count", "1"), ("count_p2", "1")] {
        let artifact = directory.path().join(format!("{name}.cwasm"));
        compile(name, &artifact);
        let host = Host::up(&["--from", text(&artifact)]);
        let answer = host.get("/");
        assert_eq!((answer.status, answer.body.as_str()), (200, body), "{name}");
    }
}

#[test]
fn a_manifest_may_name_artifacts_of_both_beside_wasm() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    compile("count", &at("new.cwasm"));
    compile("count_p2", &at("old.cwasm"));
    let mut manifest = "spin_manifest_version = 2\n[application]\nname = \"a\"\n".to_owned();
    let plain = guest("count");
    for (id, source) in [
        ("new", "new.cwasm"),
        ("old", "old.cwasm"),
        ("plain", text(&plain)),
    ] {
        manifest += &format!(
            "[[trigger.http]]\nroute = \"/{id}\"\ncomponent = \"{id}\"\n[component.{id}]\nsource = {source:?}\n"
        );
    }
    fs::write(at("spin.toml"), manifest).unwrap();
    let host = Host::up(&["--from", text(directory.path())]);
    for path in ["/new", "/old", "/plain"] {
        assert_eq!(host.get(path).body, "1", "{path}");
    }
}

#[test]
fn each_component_of_an_app_is_compiled_beside_its_wasm_or_into_a_directory() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    fs::copy(guest("count"), at("one.wasm")).unwrap();
    fs::copy(guest("count_p2"), at("two.wasm")).unwrap();
    // A variable without a value is no obstacle: nothing is started.
    fs::write(
        at("spin.toml"),
        "spin_manifest_version = 2\n[application]\nname = \"a\"\n[variables.v]\nrequired = true\n\
         [component.first]\nsource = \"one.wasm\"\n[component.second]\nsource = \"two.wasm\"\n",
    )
    .unwrap();
    let compile = |more: &[&str]| {
        let from = ["compile", "--from", text(directory.path())];
        command(&[&from, more].concat()).output().unwrap()
    };
    assert!(compile(&[]).status.success());
    assert!(at("one.cwasm").is_file() && at("two.cwasm").is_file());
    fs::create_dir(at("out")).unwrap();
    let out = at("out");
    assert!(compile(&["--out", text(&out)]).status.success());
    assert!(at("out/first.cwasm").is_file() && at("out/second.cwasm").is_file());
    let file = at("file.cwasm");
    let refused = compile(&["--out", text(&file)]);
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(said.contains("name a directory"), "{said}");
    assert!(
        compile(&["--out", text(&file), "-c", "first"])
            .status
            .success()
    );
    assert!(file.is_file());
}

#[test]
fn what_is_no_artifact_of_this_program_is_one_line() {
    let directory = tempfile::tempdir().unwrap();
    let artifact = directory.path().join("a.cwasm");
    compile("count", &artifact);
    let good = fs::read(&artifact).unwrap();
    // The version stands in the file as text; another of the same length is another program's.
    let version = concat!("levelfield-host ", env!("CARGO_PKG_VERSION"));
    let other = version.replace("levelfield", "elsewhere0");
    let at = good
        .windows(version.len())
        .position(|window| window == version.as_bytes())
        .expect("the artifact says who wrote it");
    let mut foreign = good.clone();
    foreign[at..at + other.len()].copy_from_slice(other.as_bytes());
    fs::write(&artifact, foreign).unwrap();
    let said = failure(&["--from", text(&artifact)]);
    assert!(
        said.contains("a.cwasm cannot be used: it was compiled by elsewhere0-host")
            && said.contains("compile the component's .wasm again"),
        "{said}"
    );
    fs::write(&artifact, &good[..good.len() / 3]).unwrap();
    failure(&["--from", text(&artifact)]);
    fs::write(&artifact, "hello").unwrap();
    let said = failure(&["--from", text(&artifact)]);
    assert!(said.contains("a.cwasm is not a wasm component"), "{said}");
}

#[test]
fn an_artifact_is_not_compiled_again() {
    let directory = tempfile::tempdir().unwrap();
    let artifact = directory.path().join("a.cwasm");
    compile("count", &artifact);
    let output = command(&["compile", "--from", text(&artifact)])
        .output()
        .unwrap();
    assert!(!output.status.success());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("it is compiled already"), "{said}");
}
