//! Section 4: the `spin-*` headers.

use http::HeaderMap;
use levelfield_app::headers::{RequestFacts, add, add_chained, client, strip};
use levelfield_app::route::router_of;

/// The headers that a request of `path` gets through `route`, sorted.
fn headers(route: &str, path: &str) -> Vec<String> {
    let router = router_of([route]).unwrap();
    let mut headers = HeaderMap::new();
    let facts = RequestFacts {
        scheme: "http",
        host: Some("example.com:80"),
        path_and_query: &format!("{path}?q=1"),
        client: &client("127.0.0.1:4000".parse().unwrap()),
    };
    add(&mut headers, &router.lookup(path).unwrap(), facts);
    lines(&headers)
}

fn lines(headers: &HeaderMap) -> Vec<String> {
    let mut lines: Vec<String> = headers
        .iter()
        .map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()))
        .collect();
    lines.sort();
    lines
}

#[test]
fn a_wildcard_route_with_a_parameter_gives_every_header() {
    assert_eq!(
        headers("/users/:User_Id/...", "/users/a%2Fb/x/"),
        [
            "spin-base-path: /",
            "spin-client-addr: 127.0.0.1:4000",
            "spin-component-route: /users/:User_Id",
            "spin-full-url: http://example.com:80/users/a%2Fb/x/?q=1",
            "spin-matched-route: /users/:User_Id/...",
            "spin-path-info: /x/",
            "spin-path-match-user-id: a%2Fb",
            "spin-raw-component-route: /users/:User_Id/...",
        ]
    );
}

#[test]
fn path_info_is_the_wildcards_part() {
    for (route, path, expected) in [
        ("/t/...", "/t", "spin-path-info: "),
        ("/t/...", "/t/", "spin-path-info: /"),
        ("/t/...", "/t/a/", "spin-path-info: /a/"),
        ("/t/...", "/t//a", "spin-path-info: //a"),
        ("/t", "/t/", "spin-path-info: "),
        ("/...", "/", "spin-path-info: /"),
    ] {
        assert!(
            headers(route, path).contains(&expected.to_owned()),
            "{route} {path}"
        );
    }
}

#[test]
fn the_route_headers_say_the_route_in_three_ways() {
    for (route, matched, raw, component) in [
        ("/", "", "/", "/"),
        ("/foo/", "/foo", "/foo/", "/foo/"),
        ("foo", "/foo", "foo", "foo"),
        ("/...", "/...", "/...", ""),
        ("/t/...", "/t/...", "/t/...", "/t"),
    ] {
        let path = if route == "/" { "/" } else { "/foo" };
        let path = if route == "/t/..." { "/t" } else { path };
        let headers = headers(route, path);
        for expected in [
            format!("spin-matched-route: {matched}"),
            format!("spin-raw-component-route: {raw}"),
            format!("spin-component-route: {component}"),
        ] {
            assert!(headers.contains(&expected), "{expected} in {headers:?}");
        }
    }
}

#[test]
fn of_two_parameters_of_one_name_the_last_is_told() {
    assert!(headers("/:a/:A", "/1/2").contains(&"spin-path-match-a: 2".to_owned()));
}

#[test]
fn a_chained_call_looks_like_one_to_a_catch_all() {
    let mut headers = HeaderMap::new();
    let facts = RequestFacts {
        scheme: "http",
        host: Some("hello.spin.internal"),
        path_and_query: "/a/b?q",
        client: &client("0.0.0.0:0".parse().unwrap()),
    };
    add_chained(&mut headers, "/a/b", facts);
    assert_eq!(
        lines(&headers),
        [
            "spin-base-path: /",
            "spin-client-addr: 0.0.0.0:0",
            "spin-component-route: ",
            "spin-full-url: http://hello.spin.internal/a/b?q",
            "spin-matched-route: /...",
            "spin-path-info: /a/b",
            "spin-raw-component-route: /...",
        ]
    );
}

#[test]
fn without_a_host_the_full_url_says_localhost() {
    let mut headers = HeaderMap::new();
    let facts = RequestFacts {
        scheme: "https",
        host: None,
        path_and_query: "/",
        client: &client("[::1]:1".parse().unwrap()),
    };
    add_chained(&mut headers, "/", facts);
    assert_eq!(headers["spin-full-url"], "https://localhost/");
    assert_eq!(headers["spin-client-addr"], "[::1]:1");
}

#[test]
fn what_the_client_sent_under_these_names_is_stripped() {
    let mut headers = HeaderMap::new();
    for name in [
        "spin-path-info",
        "spin-anything",
        "Spin-Full-Url",
        "spinning",
        "x-spin-a",
    ] {
        headers.append(
            http::HeaderName::try_from(name).unwrap(),
            "sent".parse().unwrap(),
        );
    }
    headers.append("spin-path-info", "twice".parse().unwrap());
    strip(&mut headers);
    assert_eq!(lines(&headers), ["spinning: sent", "x-spin-a: sent"]);
}
