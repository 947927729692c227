//! Section 5: `files` and `exclude_files`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use levelfield_app::{App, LoadOptions, load};

use crate::support::{Project, error};

/// A project with some files whose component has this.
fn project(component: &str) -> Project {
    let project = Project::hello(component);
    for name in [
        "assets/a.txt",
        "assets/deep/b.txt",
        "assets/deep/c.png",
        "assets/.hidden",
        "readme.md",
    ] {
        project.write(name, name);
    }
    project
}

/// What the component sees, each file checked to hold the name of its source.
fn seen(app: &App) -> BTreeSet<String> {
    fn walk(directory: &Path, prefix: &str, seen: &mut BTreeSet<String>) {
        for entry in fs::read_dir(directory).unwrap() {
            let entry = entry.unwrap();
            let name = format!("{prefix}/{}", entry.file_name().to_string_lossy());
            if entry.path().is_dir() {
                walk(&entry.path(), &name, seen);
            } else {
                seen.insert(name);
            }
        }
    }
    let [mount] = app.components[0].mounts.as_slice() else {
        panic!("not one mount")
    };
    assert_eq!(mount.guest, "/");
    let mut seen = BTreeSet::new();
    walk(&mount.host, "", &mut seen);
    seen
}

fn check(component: &str, expected: &[&str]) {
    let project = project(component);
    assert_eq!(
        seen(&project.load()),
        expected.iter().map(|name| (*name).to_owned()).collect(),
        "{component}"
    );
}

#[test]
fn a_file_keeps_its_path_and_a_directory_its_whole_tree() {
    check(
        "files = [\"readme.md\", \"assets/deep\"]\n",
        &["/readme.md", "/assets/deep/b.txt", "/assets/deep/c.png"],
    );
    check(
        "files = [\"assets/\"]\n",
        &[
            "/assets/a.txt",
            "/assets/.hidden",
            "/assets/deep/b.txt",
            "/assets/deep/c.png",
        ],
    );
}

#[test]
fn anything_else_is_a_glob() {
    check(
        "files = [\"assets/**/*.txt\"]\n",
        &["/assets/a.txt", "/assets/deep/b.txt"],
    );
    check(
        "files = [\"assets/*.txt\", \"./*.md\"]\n",
        &["/assets/a.txt", "/readme.md"],
    );
    check("files = [\"assets/*.nothing\"]\n", &[]);
}

#[test]
fn what_is_no_file_directory_or_glob_is_an_error() {
    let message = project("files = [\"nowhere\"]\n").error();
    assert!(
        message.contains("`nowhere` does not exist and doesn't appear to be a glob"),
        "{message}"
    );
    for text in [".", "..", "assets/.", "assets/.."] {
        let message = project(&format!("files = [\"{text}\"]\n")).error();
        assert!(message.contains("ends in a dot"), "{text}: {message}");
    }
}

#[test]
fn a_source_is_placed_at_its_destination() {
    check(
        "files = [{ source = \"assets/deep\", destination = \"/static/x\" }, { source = \"readme.md\", destination = \"docs/r.md\" }]\n",
        &["/static/x/b.txt", "/static/x/c.png", "/docs/r.md"],
    );
    check(
        "files = [{ source = \"assets/deep\", destination = \"/\" }]\n",
        &["/b.txt", "/c.png"],
    );
    for (placement, expected) in [
        (
            "{ source = \"no\", destination = \"/\" }",
            "`no` does not exist",
        ),
        (
            "{ source = \"readme.md\", destination = \"/\" }",
            "`/` is not the name of a file",
        ),
        (
            "{ source = \"readme.md\", destination = \"/a/\" }",
            "`/a/` is not the name of a file",
        ),
        (
            "{ source = \"assets\", destination = \"/../x\" }",
            "`..` is not allowed",
        ),
    ] {
        let message = project(&format!("files = [{placement}]\n")).error();
        assert!(
            message.contains("component `hello`: files: ") && message.contains(expected),
            "{message}"
        );
    }
}

#[test]
fn everything_must_be_inside_the_manifests_directory() {
    for entry in [
        "\"../*\"",
        "\"/etc/passwd\"",
        "{ source = \"/etc\", destination = \"/\" }",
        "{ source = \"assets/../..\", destination = \"/\" }",
    ] {
        let message = project(&format!("files = [{entry}]\n")).error();
        assert!(
            message.contains("is outside the manifest's directory"),
            "{entry}: {message}"
        );
    }
    check("files = [\"assets/../readme.md\"]\n", &["/readme.md"]);
}

#[test]
fn exclude_files_applies_to_trees_and_globs_and_its_star_crosses_slashes() {
    check(
        "files = [\"assets\"]\nexclude_files = [\"assets/*.txt\"]\n",
        &["/assets/.hidden", "/assets/deep/c.png"],
    );
    check(
        "files = [\"assets/**/*\"]\nexclude_files = [\"**/.hidden\", \"*.png\"]\n",
        &["/assets/a.txt", "/assets/deep/b.txt"],
    );
    check(
        "files = [\"readme.md\"]\nexclude_files = [\"*\"]\n",
        &["/readme.md"],
    );
    let message = project("files = [\"assets\"]\nexclude_files = [\"a**b\"]\n").error();
    assert!(
        message.contains("exclude_files: `a**b` is not a glob"),
        "{message}"
    );
}

#[test]
fn the_whole_directory_by_a_bare_glob_is_warned_of() {
    for (text, warned) in [
        ("*", true),
        ("**/*", true),
        ("./*", false),
        ("./**/*", false),
    ] {
        let app = project(&format!("files = [\"{text}\"]\n")).load();
        assert_eq!(
            app.warnings
                .iter()
                .any(|line| line.contains("mounts the whole app")),
            warned,
            "{text}"
        );
    }
}

#[test]
fn copies_are_read_only_unless_asked_and_do_not_show_later_edits() {
    let project = project("files = [\"readme.md\"]\n");
    let app = project.load();
    let mount = app.components[0].mounts[0].clone();
    assert!(!mount.writable);
    project.write("readme.md", "edited");
    assert_eq!(
        fs::read_to_string(mount.host.join("readme.md")).unwrap(),
        "readme.md"
    );
    let app = load(&LoadOptions {
        allow_transient_write: true,
        ..project.options()
    })
    .unwrap();
    assert!(app.components[0].mounts[0].writable);
}

#[test]
fn copies_go_when_the_app_goes() {
    let project = project("files = [\"readme.md\"]\n");
    let app = project.load();
    let host = app.components[0].mounts[0].host.clone();
    assert!(host.exists());
    drop(app);
    assert!(!host.exists());
}

#[test]
fn copies_can_be_put_elsewhere() {
    let project = project("files = [\"readme.md\"]\n");
    let temp = project.path().join("temp");
    fs::create_dir(&temp).unwrap();
    let app = load(&LoadOptions {
        temp: Some(temp.clone()),
        ..project.options()
    })
    .unwrap();
    assert!(app.components[0].mounts[0].host.starts_with(&temp));
    let options = LoadOptions {
        temp: Some(project.path().join("nowhere")),
        ..project.options()
    };
    assert!(error(&project, &options).starts_with("cannot write nowhere: "));
}

#[test]
fn direct_mounts_are_directories_themselves() {
    let project =
        project("files = [\"assets\", { source = \"assets/deep\", destination = \"/d\" }]\n");
    let options = LoadOptions {
        direct_mounts: true,
        ..project.options()
    };
    let app = load(&options).unwrap();
    let mounts: Vec<_> = app.components[0]
        .mounts
        .iter()
        .map(|mount| (mount.guest.as_str(), mount.host.clone()))
        .collect();
    assert_eq!(
        mounts,
        [
            ("/assets", project.path().join("assets")),
            ("/d", project.path().join("assets/deep"))
        ]
    );
    for (component, expected) in [
        (
            "files = [\"readme.md\"]\n",
            "only directories work with --direct-mounts",
        ),
        (
            "files = [\"assets/*\"]\n",
            "only directories work with --direct-mounts",
        ),
        (
            "files = [\"assets\"]\nexclude_files = [\"x\"]\n",
            "exclude_files does not work with --direct-mounts",
        ),
    ] {
        let project = self::project(component);
        let options = LoadOptions {
            direct_mounts: true,
            ..project.options()
        };
        let message = error(&project, &options);
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn a_manifests_directory_may_have_a_globs_characters_in_its_name() {
    let project = Project::new("");
    project.write(
        "[a]*/spin.toml",
        &format!(
            "{}{}files = [\"assets/*\"]\n",
            crate::support::HEAD,
            crate::support::HELLO
        ),
    );
    project.write("[a]*/hello.wasm", "");
    project.write("[a]*/assets/x", "");
    let options = LoadOptions {
        from: Some(project.path().join("[a]*")),
        ..LoadOptions::default()
    };
    assert_eq!(
        seen(&load(&options).unwrap()),
        ["/assets/x".to_owned()].into()
    );
}
