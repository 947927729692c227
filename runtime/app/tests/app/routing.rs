//! Section 3: which route a path takes, and static responses.

use levelfield_app::route::{Router, Target, router_of};

use crate::support::Project;

/// Which of `routes` answers `path`, and what it sees.
fn answer(routes: &[&str], path: &str) -> Option<String> {
    let router: Router = router_of(routes.iter().copied()).unwrap();
    let found = router.lookup(path)?;
    let captures = found.route.parameters().iter().zip(&found.captures);
    let captures: String = captures
        .map(|(name, value)| format!(" {name}={value}"))
        .collect();
    let tail = if found.route.is_wildcard() {
        format!(" [{}]", found.path_info)
    } else {
        String::new()
    };
    Some(format!("{}{captures}{tail}", found.route.raw))
}

fn check(routes: &[&str], table: &[(&str, Option<&str>)]) {
    for (path, expected) in table {
        assert_eq!(
            answer(routes, path).as_deref(),
            *expected,
            "{path} among {routes:?}"
        );
    }
}

#[test]
fn the_expected_table() {
    let routes = ["/helloWorld", "/users/:id", "/api/values/:id", "/..."];
    check(
        &routes,
        &[
            ("/helloWorld", Some("/helloWorld")),
            ("/helloWorld/", Some("/helloWorld")),
            ("/helloworld", Some("/... [/helloworld]")),
            ("/users/a%2Fb", Some("/users/:id id=a%2Fb")),
            ("/users/", Some("/... [/users/]")),
            ("/users/1/", Some("/users/:id id=1")),
            ("/users/1/2", Some("/... [/users/1/2]")),
            ("/api/values/7", Some("/api/values/:id id=7")),
            ("/", Some("/... [/]")),
        ],
    );
}

#[test]
fn slashes_at_the_ends_mean_nothing() {
    for route in ["/foo", "foo", "/foo/", "//foo//"] {
        for path in ["/foo", "/foo/", "//foo", "///foo//"] {
            assert_eq!(
                answer(&[route], path).as_deref(),
                Some(route),
                "{path} on {route}"
            );
        }
    }
}

#[test]
fn nothing_is_decoded_or_cleaned() {
    check(
        &["/a/b"],
        &[
            ("/a%2Fb", None),
            ("/a/./b", None),
            ("/a/x/../b", None),
            ("/A/b", None),
            ("/%61/b", None),
        ],
    );
}

#[test]
fn a_wildcard_takes_zero_or_more_segments() {
    for route in ["/t/...", "/t/*"] {
        for (path, tail) in [
            ("/t", ""),
            ("/t/", "/"),
            ("/t/a/b", "/a/b"),
            ("/t/a/", "/a/"),
            ("/t/a//", "/a/"),
            ("/t//b", "//b"),
        ] {
            assert_eq!(
                answer(&[route], path),
                Some(format!("{route} [{tail}]")),
                "{path}"
            );
        }
        check(&[route], &[("/tx", None), ("/", None)]);
    }
}

#[test]
fn a_parameter_takes_one_segment() {
    check(
        &["/users/:id"],
        &[
            ("/users", None),
            ("/users/", None),
            ("/users/1", Some("/users/:id id=1")),
            ("/users/1/2", None),
        ],
    );
    check(&["/a/:m/x"], &[("/a//x", Some("/a/:m/x m="))]);
    check(
        &["/:n.html"],
        &[
            ("/x.html", Some("/:n.html n=x")),
            ("/a/x.html", None),
            ("/x.htm", None),
        ],
    );
}

#[test]
fn an_inner_double_slash_is_not_collapsed() {
    check(&["/a/b"], &[("/a//b", None)]);
    check(&["/a//b"], &[("/a/b", None), ("/a//b", Some("/a//b"))]);
    let app = Project::new("[[trigger.http]]\nroute = \"/a//b\"\nstatic_response = {}\n").load();
    assert!(
        app.warnings[0].contains("has an inner `//`"),
        "{:?}",
        app.warnings
    );
}

#[test]
fn precedence_goes_position_by_position() {
    check(
        &["/a/:x/c", "/a/b/..."],
        &[("/a/b/c", Some("/a/b/... [/c]"))],
    );
    check(&["/:id/...", "/:id"], &[("/x", Some("/:id id=x"))]);
    check(
        &["/...", "/:x", "/a"],
        &[
            ("/a", Some("/a")),
            ("/b", Some("/:x x=b")),
            ("/b/c", Some("/... [/b/c]")),
        ],
    );
    check(&["/:a/:b", "/:a/x"], &[("/1/x", Some("/:a/x a=1"))]);
}

#[test]
fn where_positions_do_not_decide_more_dots_come_first_then_the_shorter() {
    check(
        &["/:n", "/:n.html"],
        &[("/x.html", Some("/:n.html n=x")), ("/x", Some("/:n n=x"))],
    );
    check(&["/:a/...", "/:a"], &[("/x", Some("/:a a=x"))]);
}

#[test]
fn of_the_same_shape_written_differently_the_first_wins() {
    check(&["/:a", "/:b"], &[("/x", Some("/:a a=x"))]);
    check(&["/foo/", "/foo"], &[("/foo", Some("/foo/"))]);
    check(&["/t/*", "/t/..."], &[("/t/x", Some("/t/* [/x]"))]);
}

#[test]
fn of_the_same_text_the_last_wins_at_the_place_of_the_first() {
    let app = Project::new(
        "[[trigger.http]]\nroute = \"/:a\"\nid = \"one\"\nstatic_response = {}\n\
         [[trigger.http]]\nroute = \"/:b\"\nid = \"two\"\nstatic_response = {}\n\
         [[trigger.http]]\nroute = \"/:a\"\nid = \"three\"\nstatic_response = {}\n",
    )
    .load();
    assert_eq!(app.router.lookup("/x").unwrap().route.trigger, "three");
    assert_eq!(
        app.warnings,
        ["route `/:a` is declared twice: three replaces one"]
    );
}

#[test]
fn without_a_match_there_is_none() {
    check(&["/a"], &[("/b", None), ("/", None)]);
    check(&["/..."], &[("*", None), ("", None)]);
    check(&[], &[("/", None)]);
}

#[test]
fn a_route_that_means_nothing_is_refused() {
    for (route, expected) in [
        ("/a/.../b", "can only be last"),
        ("/a/*b", "can only be last"),
        ("/:", "needs a name"),
        ("/:ü", "characters that a header's name cannot have"),
        ("/a\\nb", "cannot be sent in a header"),
    ] {
        let message = Project::new(&format!(
            "[[trigger.http]]\nroute = \"{route}\"\nid = \"t\"\nstatic_response = {{}}\n"
        ))
        .error();
        assert!(
            message.contains("trigger `t`: route") && message.contains(expected),
            "{message}"
        );
    }
}

#[test]
fn a_route_below_the_hosts_own_paths_is_warned_of() {
    let app =
        Project::new("[[trigger.http]]\nroute = \"/.well-known/spin/x\"\nstatic_response = {}\n")
            .load();
    assert!(
        app.warnings[0].contains("is never reached"),
        "{:?}",
        app.warnings
    );
}

fn static_response(text: &str) -> (http::Response<bytes::Bytes>, Vec<String>) {
    let app = Project::new(&format!(
        "[[trigger.http]]\nroute = \"/\"\nstatic_response = {text}\n"
    ))
    .load();
    let Target::Static(response) = &app.router.lookup("/").unwrap().route.target else {
        panic!("not static")
    };
    (response.response(), app.warnings)
}

#[test]
fn a_static_response_is_as_written_and_nothing_more() {
    let (response, _) = static_response("{}");
    assert_eq!(response.status(), 200);
    assert!(response.headers().is_empty(), "no default content-type");
    assert!(response.body().is_empty());
    let text = "{ status_code = 302, headers = { Location = \"/x\" }, body = \"{{ moved }}\", unknown = 1 }";
    let (response, warnings) = static_response(text);
    assert_eq!(response.status(), 302);
    assert_eq!(response.headers()["location"], "/x");
    assert_eq!(response.body(), "{{ moved }}", "no templates in it");
    assert!(warnings.is_empty(), "unknown keys in it are ignored");
}

#[test]
fn a_static_response_with_a_bad_status_or_header_fails_each_request() {
    for text in [
        "{ status_code = 1000 }",
        "{ headers = { \"a b\" = \"x\" } }",
        "{ headers = { a = \"x\\ny\" } }",
    ] {
        let (response, warnings) = static_response(text);
        assert_eq!(response.status(), 500, "{text}");
        assert!(
            warnings[0].contains("requests will get 500"),
            "{warnings:?}"
        );
    }
}
