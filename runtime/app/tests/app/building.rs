//! Section 7: building, stale builds, and what watching sees.

use std::fs::File;
use std::time::{Duration, SystemTime};

use levelfield_app::watching::Change;
use levelfield_app::{LoadOptions, recipes, watched};

use crate::support::Project;

#[test]
fn commands_run_in_order_in_the_workdir() {
    let project = Project::hello(
        "build = { command = [\"echo one > log\", \"echo two >> log\"], workdir = \"sub\" }\n",
    );
    project.write("sub/x", "");
    let recipes = recipes(&project.options()).unwrap();
    let mut announced = Vec::new();
    recipes[0]
        .run(|command| announced.push(command.to_owned()))
        .unwrap();
    assert_eq!(
        std::fs::read_to_string(project.path().join("sub/log")).unwrap(),
        "one\ntwo\n"
    );
    assert_eq!(announced, ["echo one > log", "echo two >> log"]);
}

#[test]
fn a_build_needs_no_wasm_file_yet() {
    let project = Project::new(
        "[component.hello]\nsource = \"new.wasm\"\nbuild = { command = \"touch new.wasm\" }\n",
    );
    recipes(&project.options()).unwrap()[0].run(|_| ()).unwrap();
    project.load();
}

#[test]
fn a_command_that_fails_ends_the_build_and_is_named() {
    let project = Project::hello("build = { command = [\"exit 3\", \"touch never\"] }\n");
    let message = recipes(&project.options()).unwrap()[0]
        .run(|_| ())
        .unwrap_err()
        .to_string();
    assert_eq!(
        message,
        "component `hello`: build command `exit 3` failed: exit status: 3"
    );
    assert!(!project.path().join("never").exists());
    let project = Project::hello("build = { command = \"true\", workdir = \"nowhere\" }\n");
    let message = recipes(&project.options()).unwrap()[0]
        .run(|_| ())
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("nowhere: No such file or directory"),
        "{message}"
    );
}

#[test]
fn an_absolute_workdir_is_refused() {
    let message = Project::hello("build = { command = \"true\", workdir = \"/tmp\" }\n").error();
    assert!(
        message.contains("component `hello`: build.workdir: `/tmp` is absolute"),
        "{message}"
    );
}

#[test]
fn components_are_chosen_by_id() {
    let project = Project::hello(
        "build = { command = \"true\" }\n[component.second]\nsource = \"other.wasm\"\nbuild = { command = \"false\" }\n",
    );
    let chosen = |ids: &[&str]| {
        let components = ids.iter().map(|id| (*id).to_owned()).collect();
        recipes(&LoadOptions {
            components,
            ..project.options()
        })
    };
    assert_eq!(chosen(&[]).unwrap().len(), 2);
    let ids: Vec<String> = chosen(&["second"])
        .unwrap()
        .into_iter()
        .map(|recipe| recipe.component)
        .collect();
    assert_eq!(ids, ["second"]);
    let message = chosen(&["third"]).unwrap_err().to_string();
    assert_eq!(
        message,
        "unknown component `third`; the app has `hello`, `second`"
    );
}

fn set_age(project: &Project, name: &str, seconds: u64) {
    let file = File::options()
        .append(true)
        .open(project.path().join(name))
        .unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(seconds))
        .unwrap();
}

#[test]
fn a_build_older_than_its_sources_is_warned_of() {
    let project = Project::hello("build = { command = \"true\", watch = [\"src/**/*.rs\"] }\n");
    project.write("src/a/lib.rs", "");
    set_age(&project, "src/a/lib.rs", 100);
    assert!(project.load().warnings.is_empty());
    set_age(&project, "hello.wasm", 200);
    let warnings = project.load().warnings;
    assert!(
        warnings[0].contains("its sources are newer than"),
        "{warnings:?}"
    );
}

#[test]
fn watching_tells_what_to_rebuild_from_what_to_restart_for() {
    let project = Project::hello(
        "files = [\"assets\", { source = \"one.txt\", destination = \"/1\" }]\nbuild = { command = \"true\", workdir = \"sub\", watch = [\"src\", \"*.lock\"] }\n",
    );
    for name in ["assets/a", "one.txt", "sub/src/a.rs", "unrelated"] {
        project.write(name, "");
    }
    let watched = watched(&project.options()).unwrap();
    for (name, expected) in [
        ("unrelated", None),
        ("hello.wasm", Some(Change::Restart)),
        ("assets/a", Some(Change::Restart)),
        ("assets/new", Some(Change::Restart)),
        ("one.txt", Some(Change::Restart)),
        ("sub/src/a.rs", Some(Change::Build)),
        ("sub/src/deep/new.rs", Some(Change::Build)),
        ("sub/Cargo.lock", Some(Change::Build)),
    ] {
        let before = watched.look();
        project.write(name, "changed");
        assert_eq!(before.change(&watched.look()), expected, "{name}");
    }
    let before = watched.look();
    project.write("spin.toml", "changed");
    assert_eq!(
        before.change(&watched.look()),
        Some(Change::Build),
        "the manifest"
    );
    let before = watched.look();
    std::fs::remove_file(project.path().join("assets/a")).unwrap();
    assert_eq!(
        before.change(&watched.look()),
        Some(Change::Restart),
        "a file that goes"
    );
}

#[test]
fn a_broken_manifest_is_watched_itself() {
    let project = Project::new("nonsense");
    let watched = watched(&project.options()).unwrap();
    let before = watched.look();
    project.write("spin.toml", "mended");
    assert_eq!(before.change(&watched.look()), Some(Change::Build));
}

#[test]
fn a_bare_component_is_not_built() {
    let project = Project::new("");
    let from = Some(project.path().join("hello.wasm"));
    assert!(
        recipes(&LoadOptions {
            from,
            ..LoadOptions::default()
        })
        .unwrap()
        .is_empty()
    );
}
