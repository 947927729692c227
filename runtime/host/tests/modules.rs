//! Core modules are adapted to components on load.

mod common;

use common::{Host, core_module, failure, text};

#[test]
fn a_core_module_serves_with_its_environment_and_output() {
    let wasm = core_module("count_p2");
    assert!(
        std::fs::read(&wasm)
            .unwrap()
            .starts_with(b"\0asm\x01\0\0\0")
    );
    let host = Host::up(&["--from", text(&wasm), "--env", "COLOUR=blue"]);
    let answer = host.get("/");
    assert_eq!((answer.status, answer.body.as_str()), (200, "1blue"));
    assert!(host.wait_for_output("counted on stdout"));
}

#[test]
fn a_core_module_that_exports_wasi_03_serves_too() {
    let host = Host::up(&[
        "--from",
        text(&core_module("hello")),
        "--env",
        "COLOUR=blue",
    ]);
    let answer = host.get("/a");
    assert!(answer.body.contains("path /a\n"), "{answer:?}");
    assert!(answer.body.contains("env COLOUR=blue\n"), "{answer:?}");
}

#[test]
fn a_core_module_that_cannot_be_adapted_is_told_why() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("odd.wat");
    std::fs::write(&file, r#"(module (import "env" "f" (func)))"#).unwrap();
    let said = failure(&["--from", text(&file)]);
    assert!(
        said.contains("odd.wat is a core module that cannot be made a component")
            && said.contains("wasm32-wasip2"),
        "{said}"
    );
}

#[test]
fn a_core_module_without_a_handler_is_refused_as_a_component_is() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("empty.wasm");
    std::fs::write(&file, b"\0asm\x01\0\0\0").unwrap();
    let said = failure(&["--from", text(&file)]);
    assert!(said.contains("exports no HTTP handler"), "{said}");
}
