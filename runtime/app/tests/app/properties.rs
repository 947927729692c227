//! Properties that hold for every input: no panics, and agreement with a plain reference and with Spin's matcher.

use levelfield_app::outbound::AllowedHosts;
use levelfield_app::route::router_of;
use levelfield_app::{LoadOptions, load};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::reference;
use crate::support::{HEAD, Project};

/// Routes that are likely to overlap.
fn route() -> impl Strategy<Value = String> {
    let segment = prop_oneof![
        4 => "[ab]{1,2}",
        1 => "[ab]\\.[ab]",
        2 => Just(":x".to_owned()),
        1 => Just(":y.a".to_owned()),
        1 => Just(":x.:y".to_owned()),
        1 => Just(String::new()),
        1 => Just(".a".to_owned()),
    ];
    let end = prop_oneof![3 => Just(""), 2 => Just("/..."), 1 => Just("/*"), 1 => Just("/")];
    (vec(segment, 0..4), end).prop_map(|(segments, end)| format!("/{}{end}", segments.join("/")))
}

/// Paths that are likely to match such routes.
fn path() -> impl Strategy<Value = String> {
    "/[ab./]{0,8}"
}

/// What the real router says, in the reference's terms.
fn looked_up(routes: &[&str], path: &str) -> Option<(usize, Vec<String>)> {
    let router = router_of(routes.iter().copied()).unwrap();
    let found = router.lookup(path)?;
    let mut captures: Vec<String> = found
        .captures
        .iter()
        .map(|capture| (*capture).to_owned())
        .collect();
    if found.route.is_wildcard() {
        // The reference tells the wildcard's part without the slashes that `spin-path-info` adds.
        let part = found.path_info.strip_prefix('/').unwrap_or_default();
        captures.push(part.strip_suffix('/').unwrap_or(part).to_owned());
    }
    let index = routes.iter().rposition(|route| *route == found.route.raw)?;
    Some((index, captures))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn the_router_agrees_with_the_reference(routes in vec(route(), 0..6), path in path()) {
        let routes: Vec<&str> = routes.iter().map(String::as_str).collect();
        prop_assert_eq!(looked_up(&routes, &path), reference::lookup(&routes, &path));
    }

    /// Spin's matcher, but for what docs/spin-compatibility.md names: `//` and a segment's first dot in a pattern.
    /// Two routes at a time: its order of more than two depends on where in a tree each happens to be.
    #[test]
    fn any_two_routes_are_told_apart_as_spin_does(routes in vec(route(), 0..3), path in path()) {
        let odd = |route: &String| route.trim_matches('/').contains("//") || route.contains("/.a");
        let routes: Vec<&String> = routes.iter().filter(|route| !odd(route)).collect();
        let mut spins = routefinder::Router::new();
        let mut texts: Vec<&str> = Vec::new();
        for route in routes.iter().map(|route| route.as_str()) {
            if !texts.contains(&route) {
                texts.push(route);
                spins.add(route.replace("/...", "/*").as_str(), route.to_owned()).unwrap();
            }
        }
        let expected = spins.best_match(&path).map(|found| found.handler().clone());
        let router = router_of(texts.iter().copied()).unwrap();
        prop_assert_eq!(router.lookup(&path).map(|found| found.route.raw.clone()), expected);
    }

    #[test]
    fn the_order_of_declaration_decides_only_between_equals(routes in vec(route(), 0..6), path in path()) {
        // What two spellings of one pattern have in common: names and outer slashes, also those before the wildcard.
        let shape = |route: &str| {
            let route = route.replace(":y", ":x").replace("/*", "/...");
            match route.strip_suffix("/...") {
                Some(before) => format!("{}/...", before.trim_matches('/')),
                None => route.trim_matches('/').to_owned(),
            }
        };
        let forward = router_of(routes.iter().map(String::as_str)).unwrap();
        let backward = router_of(routes.iter().rev().map(String::as_str)).unwrap();
        let found = |router: &levelfield_app::route::Router| router.lookup(&path).map(|m| shape(&m.route.raw));
        prop_assert_eq!(found(&forward), found(&backward));
    }

    #[test]
    fn path_info_is_a_part_of_the_path(route in route(), path in "/[ab./ü%]{0,8}") {
        if let Some(found) = router_of([route.as_str()]).unwrap().lookup(&path) {
            prop_assert!(path.contains(found.path_info));
            prop_assert!(found.path_info.is_empty() || found.path_info.starts_with('/'));
        }
    }

    #[test]
    fn no_route_or_path_panics(route in ".{0,20}", path in ".{0,20}") {
        if let Ok(router) = router_of([route.as_str()]) {
            router.lookup(&path);
        }
    }

    #[test]
    fn no_entry_or_destination_panics_and_what_is_denied_says_a_usable_line(
        entry in prop_oneof![".{0,30}", "[a-z*]{1,5}://[a-z0-9.*:\\[\\]/]{0,20}"],
        scheme in "[a-z]{1,6}",
        host in prop_oneof![".{0,12}", "[a-z0-9.-]{1,12}", "[0-9a-f:]{2,12}"],
        port in proptest::option::of(1u16..),
    ) {
        if let Ok(hosts) = AllowedHosts::parse(&[&entry])
            && let Err(denied) = hosts.check(&scheme, &host, port)
            && let Ok(would) = AllowedHosts::parse(&[denied.entry()])
        {
            prop_assert!(would.check(&scheme, &host, port).is_ok(), "{}", denied);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn no_manifest_panics_and_every_error_is_one_line(lines in vec(line(), 0..12)) {
        let project = Project::new("");
        project.write("spin.toml", &format!("{HEAD}{}", lines.join("\n")));
        let options = LoadOptions { runtime_config: None, ..project.options() };
        if let Err(error) = load(&options) {
            let message = error.to_string();
            prop_assert!(!message.contains('\n'), "{}", message);
            prop_assert!(message.contains("spin.toml") || message.starts_with("no value"), "{}", message);
        }
    }

    #[test]
    fn no_text_as_a_manifest_panics(text in ".{0,200}") {
        let project = Project::new("");
        project.write("spin.toml", &text);
        prop_assert!(load(&project.options()).is_err());
    }
}

/// A line of a manifest, most often a valid one.
fn line() -> impl Strategy<Value = String> {
    let value = prop_oneof![
        "\"[a-z:/.*{} ]{0,12}\"",
        Just("1".to_owned()),
        Just("true".to_owned()),
        "\\[\"[a-z:/.*{} ]{0,12}\"\\]",
        "\\{ [a-z]{1,4} = \"[a-z/]{0,6}\" \\}",
    ];
    let key = prop_oneof![
        Just("source"),
        Just("route"),
        Just("component"),
        Just("files"),
        Just("exclude_files"),
        Just("environment"),
        Just("allowed_outbound_hosts"),
        Just("static_response"),
        Just("default"),
        Just("required"),
        Just("id"),
        Just("build"),
        Just("variables"),
        Just("description"),
    ];
    prop_oneof![
        1 => Just("[component.hello]".to_owned()),
        1 => Just("[[trigger.http]]".to_owned()),
        1 => Just("[variables.a]".to_owned()),
        1 => Just("source = \"hello.wasm\"".to_owned()),
        1 => Just("component = \"hello\"".to_owned()),
        3 => (key, value).prop_map(|(key, value)| format!("{key} = {value}")),
        1 => ".{0,20}",
    ]
}
