//! `wasi:sockets/ip-name-lookup`: no name is looked up, whatever the manifest permits, as under Spin.

mod common;

use common::{Host, guest, text};

#[test]
fn names_are_not_looked_up_for_sockets() {
    let directory = tempfile::tempdir().unwrap();
    let manifest = directory.path().join("spin.toml");
    std::fs::write(
        &manifest,
        format!(
            "spin_manifest_version = 2\n[application]\nname = \"a\"\n\
             [[trigger.http]]\nroute = \"/...\"\ncomponent = \"a\"\n\
             [component.a]\nsource = {:?}\nallowed_outbound_hosts = [\"*://*:*\"]\n",
            guest("resolve")
        ),
    )
    .unwrap();
    let host = Host::up(&["--from", text(&manifest)]);
    let answer = host.get("/localhost");
    assert_eq!(answer.status, 200, "the component itself is well");
    assert!(answer.body.starts_with("failed: "), "{answer:?}");
}
