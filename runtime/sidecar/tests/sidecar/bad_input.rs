//! Whatever is wrong with how it is started is said in one line that names it, with an exit code.

use std::net::TcpListener;
use std::process::Command;

use testbed::{Finished, repo_root, run};

use crate::harness::{SOON, binary};

fn refused(command: &mut Command) -> String {
    let Finished {
        status,
        stdout,
        stderr,
    } = run(command, SOON).unwrap();
    assert!(!status.success(), "{stdout}{stderr}");
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    assert!(stderr.starts_with("levelfield-sidecar: "), "{stderr}");
    stderr
}

fn assert_says(line: &str, words: &[&str]) {
    for word in words {
        assert!(line.contains(word), "no {word:?} in {line}");
    }
}

/// What a configuration is refused with.
fn config_refused(text: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("sidecar.toml");
    std::fs::write(&file, text).unwrap();
    refused(binary().arg("--config").arg(&file))
}

/// The built-in configuration with a piece of it replaced.
fn changed(from: &str, to: &str) -> String {
    let text = levelfield_sidecar::DEFAULT_CONFIG;
    assert!(text.contains(from), "{from}");
    text.replacen(from, to, 1)
}

#[test]
fn an_unknown_flag() {
    assert_says(&refused(binary().arg("--bogus")), &["--bogus", "--help"]);
}

#[test]
fn a_store_that_does_not_exist() {
    let line = refused(binary().args(["--store", "redis"]));
    assert_says(&line, &["redis", "--store", "mongodb, embedded, null"]);
}

#[test]
fn a_taken_port() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    assert_says(
        &refused(binary().args(["--listen", &address])),
        &[&address, "--listen"],
    );
}

#[test]
fn an_address_that_is_none() {
    assert_says(
        &refused(binary().args(["--listen", "localhost"])),
        &["localhost", "HOST:PORT"],
    );
}

#[test]
fn a_missing_seed() {
    assert_says(
        &refused(binary().args(["--seed", "/no/such.jsonl"])),
        &["/no/such.jsonl", "--seed"],
    );
}

#[test]
fn a_broken_seed() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("seed.jsonl");
    let name = file.display().to_string();
    for (text, words) in [
        ("{\"_id\":1}\n{\"_id\":", ["line 2", "JSON"]),
        ("[1]", ["line 1", "document"]),
        ("{\"name\":\"x\"}", ["line 1", "_id"]),
        (
            "{\"_id\":1}\n\n{\"_id\":{\"$numberDouble\":\"1.0\"}}",
            ["line 3", "twice"],
        ),
    ] {
        std::fs::write(&file, text).unwrap();
        let line = refused(binary().args(["--seed", &name]));
        assert_says(&line, &[&name, words[0], words[1]]);
    }
}

#[test]
fn a_seed_that_would_be_ignored() {
    let seed = repo_root().join("contract/seed.jsonl");
    let line = refused(binary().args(["--store", "null", "--seed"]).arg(seed));
    assert_says(&line, &["--seed", "--store embedded"]);
}

#[test]
fn a_wrong_connection_string_without_its_password() {
    for string in [
        "postgres://me:s3cret@h/",
        "mongodb://me:s3cret@",
        "mongodb://me:s3cret@h/?x=y=z",
    ] {
        let line = refused(binary().env("CONNECTION_STRING", string));
        assert_says(&line, &["CONNECTION_STRING", "mongodb://HOST"]);
        assert!(!line.contains("s3cret"), "{line}");
    }
}

#[test]
fn an_address_for_others_without_a_token() {
    let line = refused(binary().args(["--listen", "0.0.0.0:0"]));
    assert_says(
        &line,
        &["0.0.0.0:0", "SIDECAR_TOKEN", "--token-file", "--insecure"],
    );
}

#[test]
fn tokens_that_are_none() {
    let line = refused(binary().env("SIDECAR_TOKEN", "short"));
    assert_says(&line, &["SIDECAR_TOKEN", "16 characters"]);
    assert!(!line.contains("short"), "{line}");
    assert_says(
        &refused(binary().args(["--token-file", "/no/token"])),
        &["/no/token"],
    );
}

#[test]
fn a_certificate_that_is_none() {
    let line = refused(binary().args(["--tls-cert", "/no/cert", "--tls-key", "/no/key"]));
    assert_says(&line, &["TLS", "/no/cert"]);
    assert_says(
        &refused(binary().args(["--tls-cert", "/no/cert"])),
        &["--tls-key"],
    );
}

#[test]
fn a_missing_configuration() {
    assert_says(
        &refused(binary().args(["--config", "/no/such.toml"])),
        &["/no/such.toml"],
    );
}

#[test]
fn a_configuration_with_an_unknown_key() {
    let line = config_refused(&changed("returns =", "colour = \"red\"\nreturns ="));
    assert_says(&line, &["sidecar.toml", "line", "colour"]);
    assert_says(
        &config_refused("database = \"mongo\"\n[query]\n"),
        &["query"],
    );
    assert_says(&config_refused("database ="), &["line 1"]);
}

#[test]
fn a_configuration_with_a_parameter_that_is_not_bound() {
    let line = config_refused(&changed(r#""$param": "id""#, r#""$param": "key""#));
    assert_says(&line, &["users", "key", "not in the path"]);
    let line = config_refused(&changed(r#"{"$param": "id"}"#, "1"));
    assert_says(&line, &["users", "id", "nowhere else"]);
}

#[test]
fn a_configuration_whose_parts_do_not_fit() {
    for (from, to, word) in [
        ("int32 min=0", "int33", "int33"),
        ("int32 min=0", "int32 min=x", "\"x\""),
        ("/users/{id", "users/{id", "does not start with /"),
        ("/users/{id:int32 min=0}", "/{id:int32}/{id:int32}", "twice"),
        (
            r#"{"_id": {"$param": "id"}}"#,
            r#"{"_id": {"$param": "id", "x": 1}}"#,
            "$param",
        ),
        (
            r#"{"_id": {"$param": "id"}}"#,
            r#"{"$where": "1", "_id": {"$param": "id"}}"#,
            "$where",
        ),
        (
            r#"{"_id": {"$param": "id"}}"#,
            r#"{"_id": {"$regex": {"$param": "id"}}}"#,
            "$regex",
        ),
        (
            r#"{"_id": {"$param": "id"}}"#,
            r#"{"_id": {"$mod": [{"$param": "id"}, 0]}}"#,
            "$mod",
        ),
        (r#"{"_id": {"$param": "id"}}"#, "{", "JSON"),
        ("returns = \"one\"", "returns = \"many\"", "limit"),
        (
            "returns = \"one\"",
            "returns = \"many\"\nlimit = 1001",
            "1001",
        ),
        (
            "returns = \"one\"",
            "returns = \"one\"\nlimit = 5",
            "no limit",
        ),
        (
            "returns = \"one\"",
            "returns = \"one\"\nsort = '{\"a\": {\"$param\": \"id\"}}'",
            "sort",
        ),
        (
            "returns = \"one\"",
            "returns = \"one\"\ncache = { ttl = \"1\", max_entries = 9 }",
            "ttl",
        ),
        ("name = \"Name\"", "name = \"Id\"", "twice"),
        ("from = \"name\"", "from = \"$name\"", "$name"),
        ("type = \"int32\"", "type = \"number\"", "number"),
        (
            "collection = \"users\"",
            "collection = \"cities\"",
            "--seed cities=",
        ),
    ] {
        assert_says(&config_refused(&changed(from, to)), &["sidecar.toml", word]);
    }
}

#[test]
fn two_queries_for_the_same_requests() {
    let text = levelfield_sidecar::DEFAULT_CONFIG;
    let (_, query) = text.split_once("[query.users]").unwrap();
    let other = query.replace("id", "key").replace("_key", "_id");
    let line = config_refused(&format!("{text}\n[query.other]{other}"));
    assert_says(&line, &["users", "other", "same requests"]);
}

#[test]
fn the_built_in_configuration_can_be_printed_and_used() {
    let printed = run(binary().arg("config"), SOON).unwrap();
    assert!(printed.status.success());
    assert_eq!(printed.stdout, levelfield_sidecar::DEFAULT_CONFIG);
}
