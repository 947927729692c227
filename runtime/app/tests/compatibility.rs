//! docs/spin-compatibility.md and docs/host.md name tests; each of them exists.

use std::fs;
use std::path::Path;

/// The tests that the table names, as crate, module and function.
fn named(table: &str) -> Vec<(&str, &str, &str)> {
    let rows = table
        .lines()
        .filter(|line| line.starts_with("| ") && !line.starts_with("| #"));
    let cells = rows.filter_map(|row| row.trim_end_matches(" |").rsplit(" | ").next());
    let tests = cells.filter(|cell| *cell != "–").map(|cell| {
        let test = cell.trim_matches('`');
        let (krate, path) = test
            .split_once(": ")
            .unwrap_or_else(|| panic!("{test} names no crate"));
        let (module, function) = path
            .split_once("::")
            .unwrap_or_else(|| panic!("{test} names no module"));
        (krate, module, function)
    });
    tests.collect()
}

/// Whether the file has a test of this name.
fn has_test(file: &Path, function: &str) -> bool {
    let Ok(text) = fs::read_to_string(file) else {
        return false;
    };
    let declared = format!("fn {function}(");
    // The attributes of a test stand a few lines before it, or it is in a proptest block.
    text.split_once(&declared).is_some_and(|(before, _)| {
        let near: Vec<&str> = before.lines().rev().take(4).collect();
        near.iter()
            .any(|line| line.contains("#[test]") || line.contains("::test"))
    })
}

/// Those of the named tests that do not exist.
fn missing<'a>(named: &[(&'a str, &'a str, &'a str)]) -> Vec<(&'a str, &'a str, &'a str)> {
    let runtime = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let exists = |(krate, module, function): &(&str, &str, &str)| {
        let mut files = ["tests/app", "tests", "src"].into_iter().map(|folder| {
            let file = format!("{module}.rs");
            runtime.join(krate).join(folder).join(file)
        });
        files.any(|file| has_test(&file, function))
    };
    named.iter().filter(|test| !exists(test)).copied().collect()
}

fn read(page: &str) -> String {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    fs::read_to_string(docs.join(page)).unwrap()
}

#[test]
fn every_test_that_the_table_names_exists() {
    let table = read("spin-compatibility.md");
    let named = named(&table);
    assert!(
        named.len() > 80,
        "only {} tests are found in the table",
        named.len()
    );
    let missing = missing(&named);
    assert!(missing.is_empty(), "no such tests: {missing:#?}");
}

#[test]
fn every_test_that_the_hosts_limits_name_exists() {
    let page = read("host.md");
    // The first table of the page, below its head.
    let (_, table) = page.split_once("|---|---|---|---|\n").unwrap();
    let (table, _) = table.split_once("\n\n").unwrap();
    let named = named(table);
    assert_eq!(named.len(), table.lines().count(), "each limit has a test");
    let missing = missing(&named);
    assert!(missing.is_empty(), "no such tests: {missing:#?}");
}
