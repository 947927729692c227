//! Variables from the process's environment are looked up at each use. A program of its own, because it changes the
//! environment, which no other test may read at the same time.

use levelfield_app::{LoadOptions, load};

const MANIFEST: &str = "spin_manifest_version = 2\n[application]\nname = \"test\"\n\
    [variables.colour]\ndefault = \"default\"\n\
    [component.a]\nsource = \"a.wasm\"\nvariables.paint = \"{{ colour }}\"\n";

#[allow(unsafe_code)]
fn set(value: &str) {
    // SAFETY: the one test of this program is the only thread of it that looks at the environment.
    unsafe { std::env::set_var("SPIN_VARIABLE_COLOUR", value) }
}

#[test]
fn a_value_that_changes_is_seen_at_the_next_use() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("spin.toml"), MANIFEST).unwrap();
    std::fs::write(directory.path().join("a.wasm"), "").unwrap();
    let app = load(&LoadOptions {
        from: Some(directory.path().to_owned()),
        ..LoadOptions::default()
    })
    .unwrap();
    let paint = || app.components[0].variable("paint").unwrap();
    assert_eq!(paint(), "default");
    set("red");
    assert_eq!(paint(), "red");
    set("green");
    assert_eq!(paint(), "green");
}
