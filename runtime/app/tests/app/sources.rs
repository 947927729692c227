//! Section 1: where a component's wasm comes from.

use levelfield_app::{Fetch, LoadOptions, load};

use crate::support::{Project, error};

/// The digest of `abc`.
const DIGEST: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

/// Answers every URL with the same bytes.
struct Always(&'static str);

impl Fetch for Always {
    fn fetch(&self, _url: &str) -> Result<Vec<u8>, String> {
        Ok(self.0.into())
    }
}

fn remote(digest: &str) -> Project {
    Project::new(&format!(
        "[component.hello]\nsource = {{ url = \"http://x/a.wasm\", digest = \"{digest}\" }}\n"
    ))
}

#[test]
fn a_missing_wasm_file_is_named_with_the_way_out() {
    let message = Project::new("[component.hello]\nsource = \"target/nothing.wasm\"\n").error();
    assert_eq!(
        message,
        "spin.toml: component `hello`: no wasm file at target/nothing.wasm; build the app first (--build, or `build`)"
    );
}

#[test]
fn a_url_is_fetched_once_verified_and_cached_by_its_digest() {
    let project = remote(&format!("sha256:{DIGEST}"));
    let cache = project.path().join("cache");
    let options = |fetch| LoadOptions {
        cache_dir: Some(cache.clone()),
        fetch,
        ..project.options()
    };
    let app = load(&options(Some(&Always("abc") as &dyn Fetch))).unwrap();
    assert_eq!(std::fs::read(&app.components[0].wasm).unwrap(), b"abc");
    load(&options(None)).expect("the cache has it now");
    std::fs::write(&app.components[0].wasm, "changed").unwrap();
    assert!(
        error(&project, &options(None)).contains("has the digest sha256:"),
        "a cached file is verified too"
    );
}

#[test]
fn a_body_of_another_digest_is_refused_and_not_cached() {
    let project = remote(&format!("sha256:{DIGEST}"));
    let cache = project.path().join("cache");
    let options = LoadOptions {
        cache_dir: Some(cache.clone()),
        fetch: Some(&Always("abd")),
        ..project.options()
    };
    let message = error(&project, &options);
    assert!(
        message.contains(&format!("the manifest wants sha256:{DIGEST}")),
        "{message}"
    );
    assert!(!cache.join("wasm").exists());
}

#[test]
fn without_a_client_the_error_says_where_to_put_the_file() {
    let project = remote(&format!("sha256:{DIGEST}"));
    let options = LoadOptions {
        cache_dir: Some(project.path().join("cache")),
        ..project.options()
    };
    let message = error(&project, &options);
    assert!(
        message.contains(&format!("download it to cache/wasm/sha256-{DIGEST}")),
        "{message}"
    );
}

#[test]
fn a_url_needs_a_whole_digest() {
    let message =
        Project::new("[component.hello]\nsource = { url = \"http://x/a.wasm\" }\n").error();
    assert!(message.contains("a `url` needs a `digest"), "{message}");
    for digest in ["abc", "sha256:abc", "md5:900150983cd24fb0d6963f7d28e17f72"] {
        assert!(
            remote(digest).error().contains("64 hexadecimal digits"),
            "{digest}"
        );
    }
}

#[test]
fn a_registry_package_is_refused_by_name() {
    let message =
        Project::new("[component.hello]\nsource = { package = \"a:b\", version = \"1.0.0\" }\n")
            .error();
    assert!(
        message.contains("component `hello` needs `source.package`"),
        "{message}"
    );
}

#[test]
fn a_bare_component_gets_every_path_and_no_permission() {
    let project = Project::new("");
    let options = LoadOptions {
        from: Some(project.path().join("hello.wasm")),
        environment: vec!["A=1".parse().unwrap()],
        ..LoadOptions::default()
    };
    let app = load(&options).unwrap();
    assert_eq!(app.name, "hello");
    assert_eq!(app.router.lookup("/any/path").unwrap().route.raw, "/...");
    assert_eq!(
        app.components[0].environment,
        [("A".to_owned(), "1".to_owned())]
    );
    assert!(
        app.components[0]
            .allowed_hosts
            .check("http", "example.com", None)
            .is_err()
    );
    assert!(app.components[0].mounts.is_empty());
    assert!(app.logs.is_none());
    let options = LoadOptions {
        from: Some(project.path().join("none.wasm")),
        ..LoadOptions::default()
    };
    assert!(error(&project, &options).contains("no wasm file at none.wasm"));
}

#[test]
fn a_directory_is_its_manifest() {
    let project = Project::hello("");
    let options = LoadOptions {
        from: Some(project.path().to_owned()),
        ..LoadOptions::default()
    };
    assert_eq!(
        load(&options).unwrap().path,
        project.path().join("spin.toml")
    );
}
