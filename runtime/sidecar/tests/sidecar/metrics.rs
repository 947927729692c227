//! `/metrics`, as Prometheus reads it.

use std::collections::BTreeMap;

use crate::harness::{Sidecar, store};

/// Every sample by its name and labels. A line that is none fails the test.
fn samples(sidecar: &Sidecar) -> BTreeMap<String, f64> {
    let answer = sidecar.get("/metrics");
    assert_eq!(
        answer.header("content-type"),
        Some("text/plain; version=0.0.4; charset=utf-8")
    );
    let text = answer.text();
    let mut samples = BTreeMap::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (name, value) = line.rsplit_once(' ').expect("a name and a value");
        let family = name.split('{').next().unwrap();
        let family = ["_bucket", "_sum", "_count"]
            .iter()
            .find_map(|suffix| family.strip_suffix(suffix))
            .unwrap_or(family);
        assert!(text.contains(&format!("# TYPE {family} ")), "{line}");
        assert!(text.contains(&format!("# HELP {family} ")), "{line}");
        let is_new = samples.insert(name.to_owned(), value.parse().unwrap());
        assert!(is_new.is_none(), "{line} is there twice");
    }
    samples
}

#[test]
fn requests_are_counted_by_query_and_status_and_timed() {
    let sidecar = Sidecar::embedded(&[]);
    for path in [
        "/users/1", "/users/2", "/users/0", "/users/6", "/users/x", "/x",
    ] {
        sidecar.get(path);
    }
    let samples = samples(&sidecar);
    for (query, status, count) in [
        ("users", 200, 2.0),
        ("users", 404, 1.0),
        ("users", 500, 1.0),
        ("", 400, 1.0),
        ("", 404, 1.0),
    ] {
        let name = format!("sidecar_requests_total{{query=\"{query}\",status=\"{status}\"}}");
        assert_eq!(samples.get(&name), Some(&count), "{name} in {samples:?}");
    }
    let of_users = |name: &str| {
        let name = format!("sidecar_request_duration_seconds{name}");
        *samples.get(&name).unwrap_or_else(|| panic!("no {name}"))
    };
    assert_eq!(of_users("_count{query=\"users\"}"), 4.0);
    assert_eq!(of_users("_bucket{query=\"users\",le=\"+Inf\"}"), 4.0);
    assert!(of_users("_sum{query=\"users\"}") > 0.0);
    assert_eq!(samples["sidecar_store_up"], 1.0);
    assert_eq!(samples["sidecar_in_flight"], 0.0);
    assert!(!samples.contains_key("sidecar_pool_size"));
}

#[test]
fn the_pool_is_measured_where_there_is_one() {
    let Some(mongo) = store("metrics of the pool", None) else {
        return;
    };
    let string = format!("{}&maxPoolSize=3", mongo.connection_string());
    let sidecar = Sidecar::mongodb(&string, &[]);
    sidecar.wait_until_ready();
    assert_eq!(sidecar.get("/users/1").status, 200);
    let samples = samples(&sidecar);
    assert_eq!(samples["sidecar_pool_size"], 3.0);
    assert!(samples["sidecar_pool_connections"] >= 1.0, "{samples:?}");
    assert_eq!(samples["sidecar_pool_waiters"], 0.0);
    assert_eq!(samples["sidecar_retries_total"], 0.0);
}
