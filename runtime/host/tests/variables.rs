//! Where a component's variables get their values from, as the component sees them.

mod common;

use std::fs;
use std::path::Path;
use std::process::Command;

use common::{Host, guest, text, up};

/// `up` of an app whose component has one variable for each way a value may come, started in `directory`.
fn app(directory: &Path, flags: &[&str]) -> Command {
    let names = ["flag", "provider", "environment", "dotenv", "fallback"];
    let mut manifest = format!(
        "spin_manifest_version = 2\n[application]\nname = \"a\"\n\
         [[trigger.http]]\nroute = \"/...\"\ncomponent = \"a\"\n[component.a]\nsource = {:?}\n",
        guest("settings")
    );
    for name in names {
        manifest += &format!("variables.{name} = \"<{{{{ {name} }}}}>\"\n");
    }
    for name in names {
        manifest += &format!("[variables.{name}]\ndefault = \"default\"\n");
    }
    fs::write(directory.join("spin.toml"), manifest).unwrap();
    let mut command = up(flags);
    command.current_dir(directory);
    command
}

/// What the component reads of a variable through `wasi:config/store`.
fn seen(host: &Host, name: &str) -> String {
    host.get(&format!("/config?{name}")).body
}

#[test]
fn values_come_from_the_flag_the_providers_the_environment_a_dotenv_file_and_the_default() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    // Each later source has a value for what the earlier ones have, too, and it must not win.
    fs::write(
        at("runtime.toml"),
        "[[variables_provider]]\ntype = \"static\"\nvalues = { flag = \"wrong\", provider = \"by provider\" }\n",
    )
    .unwrap();
    fs::write(
        at(".env"),
        "SPIN_VARIABLE_FLAG=wrong\nSPIN_VARIABLE_PROVIDER=wrong\nSPIN_VARIABLE_ENVIRONMENT=wrong\n\
         SPIN_VARIABLE_DOTENV='by dotenv'\n",
    )
    .unwrap();
    let config = at("runtime.toml");
    let flags = [
        "--variable",
        "flag=by flag",
        "--runtime-config-file",
        text(&config),
    ];
    let mut command = app(directory.path(), &flags);
    command
        .env("SPIN_VARIABLE_FLAG", "wrong")
        .env("SPIN_VARIABLE_PROVIDER", "wrong")
        .env("SPIN_VARIABLE_ENVIRONMENT", "by environment");
    let host = Host::start(&mut command);
    for (name, value) in [
        ("flag", "<by flag>"),
        ("provider", "<by provider>"),
        ("environment", "<by environment>"),
        ("dotenv", "<by dotenv>"),
        ("fallback", "<default>"),
    ] {
        assert_eq!(seen(&host, name), format!("Ok(Some({value:?}))"));
    }
    assert_eq!(
        seen(&host, "other"),
        "Ok(None)",
        "a component sees its own alone"
    );
}

#[test]
fn the_dotenv_file_is_that_of_the_current_directory() {
    let (app_directory, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::write(
        app_directory.path().join(".env"),
        "SPIN_VARIABLE_DOTENV=beside\n",
    )
    .unwrap();
    fs::write(
        elsewhere.path().join(".env"),
        "SPIN_VARIABLE_DOTENV=current\n",
    )
    .unwrap();
    let from = ["--from", text(app_directory.path())];
    let mut command = app(app_directory.path(), &from);
    let host = Host::start(command.current_dir(elsewhere.path()));
    assert_eq!(seen(&host, "dotenv"), r#"Ok(Some("<current>"))"#);
}
