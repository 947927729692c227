//! docs/spin-compatibility.md names tests; each of them exists.

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

#[test]
fn every_test_that_the_table_names_exists() {
    let runtime = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let table = fs::read_to_string(runtime.join("../docs/spin-compatibility.md")).unwrap();
    let named = named(&table);
    assert!(
        named.len() > 80,
        "only {} tests are found in the table",
        named.len()
    );
    let missing: Vec<_> = named
        .iter()
        .filter(|(krate, module, function)| {
            let files = ["tests/app", "tests", "src"].map(|folder| {
                runtime
                    .join(krate)
                    .join(folder)
                    .join(format!("{module}.rs"))
            });
            !files.iter().any(|file| has_test(file, function))
        })
        .collect();
    assert!(missing.is_empty(), "no such tests: {missing:#?}");
}
