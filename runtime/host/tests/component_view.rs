//! What a component sees of a request and of the host.

mod common;

use common::{Host, guest};

#[test]
fn a_request_arrives_with_its_headers_and_spins_own() {
    let host = Host::with_guest("hello", &["--env", "COLOUR=blue"]);
    let answer = host.send(
        "GET /a//b%2F?c=d HTTP/1.1\r\nhost: example.org:80\r\nx-a: b\r\nspin-path-info: evil\r\n\
         connection: close\r\n\r\n",
    );
    assert_eq!(answer.status, 200);
    for line in [
        "path /a//b%2F?c=d\n",
        "header host: example.org:80\n",
        "header x-a: b\n",
        "header spin-path-info: /a//b%2F\n",
        "header spin-full-url: http://example.org:80/a//b%2F?c=d\n",
        "header spin-matched-route: /...\n",
        "header spin-client-addr: 127.0.0.1:",
        "env COLOUR=blue\n",
    ] {
        assert!(answer.body.contains(line), "{line} in {}", answer.body);
    }
    for absent in ["evil", "header connection", "env PATH", "env HOME"] {
        assert!(!answer.body.contains(absent), "{absent}");
    }
}

#[test]
fn head_has_the_headers_of_get_and_no_body_and_keeps_the_connection() {
    let host = Host::with_guest("slow", &[]);
    let answer = host.send(
        "HEAD / HTTP/1.1\r\nhost: test\r\n\r\nGET / HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n",
    );
    assert_eq!(answer.header("content-length"), Some("2"));
    assert!(answer.body.starts_with("HTTP/1.1 200 OK"), "{answer:?}");
}

#[test]
fn a_body_passes_through_a_guest_as_it_is() {
    let host = Host::with_guest("echo", &[]);
    let body = "0123456789".repeat(30_000);
    let answer = host.send(&format!(
        "POST / HTTP/1.1\r\nhost: test\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    ));
    assert_eq!(answer.status, 200);
    assert!(answer.whole && answer.body == body);
}

#[test]
fn what_a_component_prints_goes_to_stderr_unless_quiet() {
    let host = Host::with_guest("hello", &[]);
    host.get("/");
    assert!(host.wait_for_output("hello on stdout"));
    let quiet = Host::with_guest("hello", &["--quiet"]);
    quiet.get("/");
    assert!(!quiet.output().contains("hello on stdout"));
}

#[test]
fn what_a_component_prints_is_kept_in_its_log_file() {
    let directory = tempfile::tempdir().unwrap();
    let logs = directory.path().join("logs");
    let host = Host::with_guest("hello", &["--quiet", "-L", logs.to_str().unwrap()]);
    host.get("/");
    let text = std::fs::read_to_string(logs.join("hello_stdout.txt")).unwrap();
    assert_eq!(text, "hello on stdout\n");
}

#[test]
fn routes_static_responses_and_the_hosts_own_paths() {
    let directory = tempfile::tempdir().unwrap();
    let manifest = directory.path().join("spin.toml");
    std::fs::write(
        &manifest,
        format!(
            "spin_manifest_version = 2\n[application]\nname = \"a\"\nversion = \"1.2.3\"\n\
             [[trigger.http]]\nroute = \"/users/:id\"\ncomponent = \"hello\"\n\
             [[trigger.http]]\nroute = \"/fixed\"\nstatic_response = {{ status_code = 418, headers = {{ x = \"y\" }}, body = \"tea\" }}\n\
             [component.hello]\nsource = {:?}\n",
            guest("hello")
        ),
    )
    .unwrap();
    let host = Host::up(&["--from", manifest.to_str().unwrap()]);
    let user = host.get("/users/a%2Fb/");
    assert!(
        user.body.contains("header spin-path-match-id: a%2Fb\n"),
        "{user:?}"
    );
    let fixed = host.get("/fixed");
    assert_eq!((fixed.status, fixed.body.as_str()), (418, "tea"));
    assert_eq!(fixed.header("x"), Some("y"));
    let none = host.get("/none");
    assert_eq!((none.status, none.body.as_str()), (404, ""));
    assert_eq!(host.get("/.well-known/spin/health").body, "OK");
    assert!(
        host.get("/.well-known/spin/info")
            .body
            .contains("\"version\": \"1.2.3\"")
    );
    assert_eq!(host.get("/.well-known/spin/other").status, 404);
}

#[test]
fn an_instance_serves_many_requests_or_one_as_asked() {
    // The guest counts how often it was called.
    let reused = Host::with_guest(
        "count",
        &["--workers", "1", "--max-instance-reuse-count", "3"],
    );
    let seen: Vec<String> = (0..7).map(|_| reused.get("/").body).collect();
    assert_eq!(seen, ["1", "2", "3", "1", "2", "3", "1"]);
    let fresh = Host::with_guest("count", &["--max-instance-reuse-count", "1"]);
    assert_eq!(
        (fresh.get("/").body, fresh.get("/").body),
        ("1".into(), "1".into())
    );
}
