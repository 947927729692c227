//! How components read their variables, through every interface that components in the field import.

mod common;

use common::{Host, guest};

fn host(flags: &[&str]) -> (tempfile::TempDir, Host) {
    let directory = tempfile::tempdir().unwrap();
    let manifest = directory.path().join("spin.toml");
    let text = format!(
        "spin_manifest_version = 2\n[application]\nname = \"a\"\n\
         [variables]\ncolour = {{ default = \"green\" }}\nshade = {{ default = \"dark\" }}\n\
         [[trigger.http]]\nroute = \"/...\"\ncomponent = \"settings\"\n\
         [component.settings]\nsource = {:?}\n\
         [component.settings.variables]\npaint = \"{{{{ shade }}}} {{{{ colour }}}}\"\n",
        guest("settings")
    );
    std::fs::write(&manifest, text).unwrap();
    let from = manifest.to_str().unwrap();
    let host = Host::up(&[&["--from", from], flags].concat());
    (directory, host)
}

#[test]
fn every_interface_gives_the_components_own_variables() {
    let (_directory, host) = host(&["--variable", "shade=light"]);
    assert_eq!(host.get("/spin2?paint").body, "Ok(\"light green\")");
    assert_eq!(host.get("/spin3?paint").body, "Ok(\"light green\")");
    assert_eq!(host.get("/config?paint").body, "Ok(Some(\"light green\"))");
    assert_eq!(host.get("/all").body, "Ok([(\"paint\", \"light green\")])");
}

#[test]
fn a_variable_that_is_not_there_has_the_error_of_its_interface() {
    let (_directory, host) = host(&[]);
    for path in ["/spin2", "/spin3"] {
        // One of the app's that the component was not given.
        let undefined = host.get(&format!("{path}?colour")).body;
        assert!(undefined.starts_with("Err(Error::Undefined"), "{undefined}");
        let invalid = host.get(&format!("{path}?No-Name")).body;
        assert!(invalid.starts_with("Err(Error::InvalidName"), "{invalid}");
    }
    assert_eq!(host.get("/config?colour").body, "Ok(None)");
}
