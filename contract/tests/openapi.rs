//! openapi.yaml describes the routes of the contract, no more and no fewer, with every status of the cases.

use std::collections::{BTreeMap, BTreeSet};

use contract::{CASES, route};
use serde_json::Value;

const OPENAPI: &str = include_str!("../openapi.yaml");

/// The statuses under each path. The file keeps to one indentation, which is all that is relied on.
fn described() -> BTreeMap<&'static str, BTreeSet<u64>> {
    let mut paths = BTreeMap::new();
    let mut statuses: &mut BTreeSet<u64> = paths.entry("").or_default();
    let within = OPENAPI
        .lines()
        .skip_while(|line| *line != "paths:")
        .skip(1)
        .take_while(|line| line.starts_with(' '));
    for line in within {
        if let Some(path) = line.strip_prefix("  /") {
            let path = path.trim_end_matches(':');
            statuses = paths.entry(&line[2..3 + path.len()]).or_default();
        } else if let Some(status) = line.strip_prefix("        \"") {
            statuses.insert(status[..3].parse().expect("a status code"));
        }
    }
    paths.remove("");
    paths
}

/// The path of the description that a case's target takes, if it is a route of the contract.
fn path_of(target: &str) -> Option<&'static str> {
    let path = target.split('?').next()?;
    // Before one slash is dropped here: two in a row make a path that is none.
    if path.contains("//") {
        return None;
    }
    let path = if path == "/" {
        path
    } else {
        path.strip_suffix('/').unwrap_or(path)
    };
    // A known path answers another method with 405, whatever its id is.
    if route("POST", path).err()?.status != 405 {
        return None;
    }
    described()
        .into_keys()
        .find(|known| match known.strip_suffix("{id}") {
            Some(parent) => path
                .strip_prefix(parent)
                .is_some_and(|id| !id.contains('/')),
            None => path == *known,
        })
}

#[test]
fn every_path_described_is_a_route() {
    let paths = described();
    assert_eq!(paths.len(), 6, "{paths:?}");
    for path in paths.keys() {
        assert!(route("GET", &path.replace("{id}", "5")).is_ok(), "{path}");
    }
}

#[test]
fn every_status_of_the_cases_is_described_and_every_status_described_has_a_case() {
    let mut shown: BTreeMap<&str, BTreeSet<u64>> = BTreeMap::new();
    for (file, text) in CASES {
        let cases: Vec<Value> =
            serde_json::from_str(text).unwrap_or_else(|e| panic!("{file}: {e}"));
        for case in &cases {
            let target = case["request"].as_str().unwrap().split(' ').nth(1).unwrap();
            if let Some(path) = path_of(target) {
                let status = case["status"].as_u64().unwrap();
                shown.entry(path).or_default().insert(status);
            }
        }
    }
    assert_eq!(shown, described());
}
