//! Section 6: `allowed_outbound_hosts`.

use levelfield_app::outbound::AllowedHosts;

use crate::support::Project;

/// Whether the list permits `scheme://host:port`.
fn permits(list: &[&str], scheme: &str, host: &str, port: Option<u16>) -> bool {
    AllowedHosts::parse(list)
        .unwrap()
        .check(scheme, host, port)
        .is_ok()
}

#[test]
fn nothing_is_permitted_by_default() {
    let app = Project::hello("").load();
    let hosts = &app.components[0].allowed_hosts;
    assert!(hosts.check("http", "localhost", Some(80)).is_err());
    assert!(hosts.check_self("http").is_err());
}

#[test]
fn an_entry_permits_its_scheme_host_and_port_alone() {
    let list = ["https://example.com"];
    assert!(permits(&list, "https", "example.com", None));
    assert!(permits(&list, "https", "EXAMPLE.com", Some(443)));
    assert!(!permits(&list, "http", "example.com", Some(443)));
    assert!(!permits(&list, "https", "www.example.com", None));
    assert!(!permits(&list, "https", "example.com", Some(8443)));
    assert!(permits(
        &["https://example.com:8443/"],
        "https",
        "example.com",
        Some(8443)
    ));
}

#[test]
fn a_port_that_is_left_out_is_the_schemes() {
    for (scheme, port) in [
        ("http", 80),
        ("https", 443),
        ("postgres", 5432),
        ("mysql", 3306),
        ("redis", 6379),
        ("mqtt", 1883),
    ] {
        assert!(
            permits(&[&format!("{scheme}://h")], scheme, "h", Some(port)),
            "{scheme}"
        );
        assert!(
            !permits(&[&format!("{scheme}://h")], scheme, "h", Some(port + 1)),
            "{scheme}"
        );
    }
}

#[test]
fn ports_may_be_a_range_without_its_end_or_any() {
    let list = ["tcp://h:100..102"];
    assert!(permits(&list, "tcp", "h", Some(100)) && permits(&list, "tcp", "h", Some(101)));
    assert!(!permits(&list, "tcp", "h", Some(102)) && !permits(&list, "tcp", "h", Some(99)));
    assert!(
        permits(&["tcp://h:*"], "tcp", "h", Some(1)) && permits(&["tcp://h:*"], "tcp", "h", None)
    );
}

#[test]
fn stars_stand_for_any_scheme_host_and_port() {
    assert!(permits(&["*://*:*"], "udp", "10.0.0.1", Some(53)));
    assert!(permits(&["*://*:*"], "https", "[::1]", None));
    assert!(permits(&["http://*"], "http", "a.b", Some(80)));
    assert!(!permits(&["http://*"], "http", "a.b", Some(81)));
}

#[test]
fn a_star_before_a_suffix_is_any_subdomain_but_not_the_suffix() {
    let list = ["http://*.example.com"];
    assert!(permits(&list, "http", "a.example.com", None));
    assert!(permits(&list, "http", "a.b.example.com", None));
    assert!(!permits(&list, "http", "example.com", None));
    assert!(!permits(&list, "http", "evilexample.com", None));
}

#[test]
fn a_network_permits_addresses_and_never_names() {
    let list = ["tcp://10.0.0.0/8:5000", "http://fe80::/10"];
    assert!(permits(&list, "tcp", "10.1.2.3", Some(5000)));
    assert!(!permits(&list, "tcp", "11.1.2.3", Some(5000)));
    assert!(!permits(&list, "tcp", "ten.example", Some(5000)));
    assert!(permits(&list, "http", "fe80::1", None) && permits(&list, "http", "[fe80::1]", None));
}

#[test]
fn an_address_is_the_same_however_it_is_written() {
    assert!(permits(&["http://127.0.0.1"], "http", "127.1", None));
    assert!(permits(&["http://127.0.0.1"], "http", "0x7f000001", None));
    assert!(permits(
        &["http://[::1]:8080"],
        "http",
        "0:0:0:0:0:0:0:1",
        Some(8080)
    ));
    assert!(permits(&["http://[::1]"], "http", "[::1]", Some(80)));
}

#[test]
fn self_permits_requests_to_the_app_and_no_others() {
    let hosts = AllowedHosts::parse(&["http://self"]).unwrap();
    assert!(hosts.check_self("http").is_ok());
    assert_eq!(
        hosts.check_self("https").unwrap_err().entry(),
        "https://self"
    );
    assert!(hosts.check("http", "self", None).is_err());
    assert!(
        AllowedHosts::parse(&["http://*"])
            .unwrap()
            .check_self("http")
            .is_ok()
    );
    assert!(
        AllowedHosts::parse(&["http://example.com"])
            .unwrap()
            .check_self("http")
            .is_err()
    );
}

#[test]
fn a_denial_says_the_line_to_add() {
    let denied = |scheme: &str, host: &str, port| {
        AllowedHosts::default()
            .check(scheme, host, port)
            .unwrap_err()
            .to_string()
    };
    assert!(
        denied("https", "example.com", None)
            .ends_with("allowed_outbound_hosts = [\"https://example.com\"]")
    );
    assert!(denied("http", "example.com", Some(80)).ends_with("[\"http://example.com\"]"));
    assert!(denied("http", "::1", Some(8080)).ends_with("[\"http://[::1]:8080\"]"));
    assert!(denied("tcp", "10.0.0.1", Some(5432)).ends_with("[\"tcp://10.0.0.1:5432\"]"));
}

#[test]
fn the_line_to_add_would_permit_the_call() {
    for (scheme, host, port) in [
        ("https", "example.com", None),
        ("http", "::1", Some(81)),
        ("udp", "127.1", Some(53)),
    ] {
        let denied = AllowedHosts::default()
            .check(scheme, host, port)
            .unwrap_err();
        assert!(
            permits(&[denied.entry()], scheme, host, port),
            "{}",
            denied.entry()
        );
    }
}

#[test]
fn entries_that_mean_nothing_are_refused() {
    for (entry, expected) in [
        ("example.com", "no scheme"),
        ("", "no scheme"),
        ("*", "no scheme"),
        ("ht-tp://x", "must be letters"),
        ("://x", "must be letters"),
        ("{http,https}://x", "must be letters"),
        ("http://{a,b}", "lists are not a form"),
        ("http://a/path", "a path is not allowed"),
        ("http://a:80/path", "is not a port"),
        ("http://a*.com", "stands for a whole host"),
        ("http://*.1.2.3.4", "an address has no subdomains"),
        ("http://", "is not a host"),
        ("http://a b", "is not a host"),
        ("http://a:99999", "is not a port"),
        ("http://a:1..x", "is not a port"),
        ("http://a:5..5", "is empty"),
        ("*://a", "has no default port"),
        ("tcp://a", "has no default port"),
        ("insecure:allow-all", "`*://*:*` allows everything"),
    ] {
        let message = Project::hello(&format!("allowed_outbound_hosts = [\"{entry}\"]\n")).error();
        let at = format!("component `hello`: allowed_outbound_hosts: `{entry}`");
        assert!(
            message.contains(&at) && message.contains(expected),
            "{message}"
        );
    }
}

fn templated(list: &str, default: &str) -> Project {
    Project::new(&format!(
        "[variables]\nhost = {{ default = \"{default}\" }}\n[component.hello]\nsource = \"hello.wasm\"\nallowed_outbound_hosts = [{list}]\n"
    ))
}

#[test]
fn templates_are_filled_in_anywhere_in_an_entry() {
    let app = templated("\"https://{{ host }}.example.com:81\"", "api").load();
    assert!(
        app.components[0]
            .allowed_hosts
            .check("https", "api.example.com", Some(81))
            .is_ok()
    );
}

#[test]
fn an_optional_endpoint_that_is_not_set_is_skipped() {
    for default in ["", "http://", "https://"] {
        let app = templated("\"{{ host }}\"", default).load();
        assert!(
            app.components[0]
                .allowed_hosts
                .check("http", "x", None)
                .is_err()
        );
    }
    assert!(
        Project::hello("allowed_outbound_hosts = [\"http://\"]\n")
            .error()
            .contains("is not a host")
    );
}

#[test]
fn a_template_is_checked_at_start() {
    let message = templated("\"{{ host }}\"", "nonsense").error();
    assert!(
        message.contains("`{{ host }}`: it says `nonsense` now: no scheme"),
        "{message}"
    );
    let message = templated("\"http://{{ hots }}\"", "x").error();
    assert!(
        message.contains("the app has no variable `hots`"),
        "{message}"
    );
    assert!(
        templated("\"http://{{ host\"", "x")
            .error()
            .contains("without its `}}`")
    );
}

#[test]
fn chaining_needs_an_entry_and_its_wildcard_means_the_apps_own_components() {
    let app = |list: &str| {
        Project::new(&format!(
            "[component.a]\nsource = \"hello.wasm\"\nallowed_outbound_hosts = [\"{list}\"]\n[component.b]\nsource = \"other.wasm\"\n"
        ))
        .load()
    };
    let permits = |list: &str, host: &str, port| {
        app(list).components[0]
            .allowed_hosts
            .check("http", host, port)
            .is_ok()
    };
    assert!(permits("http://b.spin.internal", "b.spin.internal", None));
    assert!(!permits("http://b.spin.internal", "a.spin.internal", None));
    assert!(
        permits("http://b.spin.internal", "b.spin.internal", Some(8080)),
        "any port"
    );
    assert!(permits(
        "*://*.spin.internal",
        "b.spin.internal",
        Some(8080)
    ));
    assert!(
        !permits("*://*.spin.internal", "c.spin.internal", None),
        "not one of the app's"
    );
}

#[test]
fn the_deprecated_list_of_http_hosts_is_translated_and_warned_of() {
    let app = Project::hello("allowed_http_hosts = [\"a.com\", \"https://b.com:81\"]\n").load();
    let hosts = &app.components[0].allowed_hosts;
    for (scheme, host, port) in [
        ("http", "a.com", None),
        ("https", "a.com", None),
        ("http", "b.com", Some(81)),
        ("https", "b.com", Some(81)),
    ] {
        assert!(hosts.check(scheme, host, port).is_ok(), "{scheme} {host}");
    }
    assert!(
        app.warnings[0]
            .contains("write allowed_outbound_hosts = [\"http://a.com\", \"https://a.com\""),
        "{:?}",
        app.warnings
    );
    let app = Project::hello("allowed_http_hosts = [\"insecure:allow-all\"]\n").load();
    let hosts = &app.components[0].allowed_hosts;
    assert!(hosts.check("http", "x", Some(1)).is_ok() && hosts.check_self("http").is_ok());
    assert!(hosts.check("tcp", "x", Some(1)).is_err());
}

#[test]
fn the_runtime_config_blocks_networks_whatever_the_list_says() {
    let project = Project::hello("allowed_outbound_hosts = [\"*://*:*\"]\n");
    let runtime_config = project.write(
        "runtime.toml",
        "[outbound_networking]\nblock_networks = [\"private\", \"1.2.3.0/24\"]\n",
    );
    let app = levelfield_app::load(&levelfield_app::LoadOptions {
        runtime_config: Some(runtime_config),
        ..project.options()
    })
    .unwrap();
    assert!(app.blocked_networks.blocks("127.0.0.1".parse().unwrap()));
    assert!(app.blocked_networks.blocks("1.2.3.4".parse().unwrap()));
    assert!(!app.blocked_networks.blocks("1.1.1.1".parse().unwrap()));
}
