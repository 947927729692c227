//! An app in a directory of its own.

use std::fs;
use std::path::{Path, PathBuf};

use levelfield_app::{App, LoadOptions, load};
use tempfile::TempDir;

/// The start of every manifest.
pub const HEAD: &str = "spin_manifest_version = 2\n[application]\nname = \"test\"\n";

/// One component `hello` that gets every path.
pub const HELLO: &str = "[[trigger.http]]\nroute = \"/...\"\ncomponent = \"hello\"\n[component.hello]\nsource = \"hello.wasm\"\n";

pub struct Project {
    directory: TempDir,
}

impl Project {
    /// A project with this text after [`HEAD`], and an empty `hello.wasm` and `other.wasm`.
    pub fn new(manifest: &str) -> Self {
        let project = Project {
            directory: tempfile::tempdir().unwrap(),
        };
        project.write("spin.toml", &format!("{HEAD}{manifest}"));
        project.write("hello.wasm", "");
        project.write("other.wasm", "");
        project
    }

    /// A project of [`HELLO`] with this added to the component.
    pub fn hello(component: &str) -> Self {
        Project::new(&format!("{HELLO}{component}"))
    }

    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    pub fn options(&self) -> LoadOptions<'static> {
        LoadOptions {
            from: Some(self.path().join("spin.toml")),
            ..LoadOptions::default()
        }
    }

    pub fn load(&self) -> App {
        load(&self.options()).unwrap()
    }

    /// The message of the error that loading gives, checked to be one line, without the project's directory.
    pub fn error(&self) -> String {
        error(self, &self.options())
    }
}

/// The message of the error that loading with `options` gives.
pub fn error(project: &Project, options: &LoadOptions<'_>) -> String {
    let message = load(options).expect_err("the app is wrong").to_string();
    assert!(!message.contains('\n'), "{message}");
    message.replace(&format!("{}/", project.path().display()), "")
}
