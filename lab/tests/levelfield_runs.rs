//! The service as `make up` runs it, without a database: the component on the host, the sidecar on its embedded store.

use std::process::Command;
use std::time::Duration;

use lab::check::{Checked, StoreState, Suite, check};
use lab::http::Origin;
use lab::interrupt::Interrupt;
use testbed::{Process, Ready, built, free_port, repo_root};

const START_WITHIN: Duration = Duration::from_secs(20);
const YEAR: u16 = 2031;

fn start(program: &str, args: &[&str], ready: String) -> Process {
    let mut command = Command::new(built(program).unwrap());
    command
        .args(args)
        .current_dir(repo_root())
        .env_remove("CONNECTION_STRING");
    Process::start(&mut command, Ready::Http(ready), START_WITHIN).unwrap()
}

fn component() -> Vec<u8> {
    let file = repo_root().join("target/wasm32-wasip2/release/levelfield.wasm");
    std::fs::read(&file)
        .unwrap_or_else(|error| panic!("{}: {error}: scripts/build", file.display()))
}

#[test]
fn the_component_answers_every_case_from_the_embedded_store_and_without_a_sidecar() {
    let sidecar_url = format!("http://127.0.0.1:{}", free_port());
    let listen = format!("127.0.0.1:{}", free_port());
    let url = format!("http://{listen}");
    let _host = start(
        "levelfield-host",
        &[
            "up",
            "--quiet",
            "--listen",
            &listen,
            "--variable",
            &format!("sidecar_url={sidecar_url}"),
            "--env",
            &format!("SIDECAR_URL={sidecar_url}"),
            "--env",
            &format!("LEVELFIELD_YEAR={YEAR}"),
        ],
        format!("{url}/.well-known/spin/ready"),
    );
    let mut sidecar = start(
        "levelfield-sidecar",
        &[
            "--listen",
            sidecar_url.trim_start_matches("http://"),
            "--store",
            "embedded",
            "--seed",
            "contract/seed.jsonl",
        ],
        format!("{sidecar_url}/readyz"),
    );
    let origin = Origin::parse(&url).unwrap();

    let up = ask(&origin, StoreState::Up);
    assert!(up.passed(), "{:#?}", differences(up));

    assert!(sidecar.stop().success());
    let alone = ask(&origin, StoreState::Unreachable);
    assert!(alone.passed(), "{:#?}", differences(alone));
}

fn ask(origin: &Origin, store: StoreState) -> Checked {
    let suite = Suite {
        year: YEAR,
        store,
        only_about_store: false,
        seed: 1,
        interrupt: &Interrupt::default(),
    };
    check(origin, &suite).unwrap()
}

fn differences(checked: Checked) -> Vec<String> {
    let failed = checked.cases.into_iter().filter(|case| !case.passed());
    failed
        .map(|case| format!("{}: {}", case.title(), case.difference()))
        .collect()
}

#[test]
fn the_component_has_at_most_one_megabyte() {
    let size = component().len();
    assert!(size <= 1_000_000, "{size} bytes");
}

#[test]
fn the_component_asks_for_no_interface_that_only_one_host_has() {
    let bytes = component();
    for vendor in ["spin:", "fermyon:", "levelfield:"] {
        let found = bytes
            .windows(vendor.len())
            .any(|at| at == vendor.as_bytes());
        assert!(!found, "it mentions {vendor}");
    }
}
