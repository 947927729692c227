//! `levelfield check` against a server that keeps the contract, and against one wrong server for each way of being wrong.

mod support;

use std::net::SocketAddr;
use std::process::{Command, Output};

use lab::check::{Case, StoreState, cases};
use support::{Asked, answer, serve};

const YEAR: u16 = 2031;

/// Answers every case as the contract says, users included, and leaves `twist` to spoil the answer to one request.
fn contract_server(
    twist: impl Fn(&Asked, Vec<u8>) -> Vec<u8> + Send + Sync + 'static,
) -> SocketAddr {
    let cases: Vec<Case> = cases(YEAR)
        .unwrap()
        .into_iter()
        .filter(|case| case.store.is_none_or(|store| store == StoreState::Up))
        .collect();
    serve(move |asked| {
        let method = if asked.method == "HEAD" {
            "GET"
        } else {
            &asked.method
        };
        let case = cases
            .iter()
            .find(|case| case.method == method && case.target == asked.target)
            .unwrap_or_else(|| panic!("nobody asks {} {}", asked.method, asked.target));
        let headers: Vec<(&str, &str)> = case
            .expected
            .headers
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        let body = std::str::from_utf8(&case.expected.body).unwrap();
        twist(asked, answer(asked, case.expected.status, &headers, body))
    })
}

/// Spoils the answer to one request by replacing text in it.
fn replacing(
    method: &'static str,
    target: &'static str,
    from: &'static str,
    to: &'static str,
) -> SocketAddr {
    contract_server(move |asked, bytes| {
        if asked.method != method || asked.target != target {
            return bytes;
        }
        let text = String::from_utf8(bytes).unwrap();
        assert!(text.contains(from), "{text}");
        text.replacen(from, to, 1).into_bytes()
    })
}

fn check(address: SocketAddr, more: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_levelfield"))
        .args(["check", "--url", &format!("http://{address}")])
        .args(["--year", &YEAR.to_string()])
        .args(more)
        .output()
        .unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// The server is refused, one case fails, and the output says `what`.
fn refused(address: SocketAddr, what: &str) {
    let output = check(address, &[]);
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains(what), "{what:?} is not in:\n{text}");
    assert!(text.contains("1 of "), "more than one case fails:\n{text}");
}

#[test]
fn a_server_that_keeps_the_contract_passes_every_case() {
    let output = check(contract_server(|_, bytes| bytes), &[]);
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(
        text.contains("cases pass") && !text.contains("FAIL"),
        "{text}"
    );
}

#[test]
fn a_wrong_status_is_a_difference() {
    refused(
        replacing("GET", "/about/", "200", "301"),
        "GET status: expected 200, got 301",
    );
}

#[test]
fn a_wrong_content_type_is_a_difference() {
    refused(
        replacing(
            "GET",
            "/users/2",
            "application/json",
            "application/json; charset=utf-8",
        ),
        r#"content-type: expected "application/json", got "application/json; charset=utf-8""#,
    );
}

#[test]
fn a_body_in_chunks_has_no_content_length() {
    let chunked = contract_server(|asked, bytes| {
        if asked.target != "/helloWorld?" || asked.method != "GET" {
            return bytes;
        }
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n\
          10\r\n{\"message\":\"Hell\r\na;x=y\r\no world!\"}\r\n0\r\ntrailer: t\r\n\r\n"
            .to_vec()
    });
    refused(chunked, r#"GET content-length: expected "26", got none"#);
}

#[test]
fn a_header_that_the_contract_does_not_want_is_a_difference() {
    refused(
        replacing("GET", "/users/2", "\r\n\r\n", "\r\nretry-after: 1\r\n\r\n"),
        r#"retry-after: expected none, got "1""#,
    );
}

#[test]
fn allow_is_compared_as_a_set() {
    let reordered = replacing("POST", "/helloWorld", "GET, HEAD", "HEAD,GET");
    assert_eq!(check(reordered, &[]).status.code(), Some(0));
    refused(
        replacing("POST", "/helloWorld", "GET, HEAD", "GET"),
        r#"allow: expected "GET, HEAD", got "GET""#,
    );
}

#[test]
fn a_wrong_body_is_shown_beside_the_right_one() {
    refused(
        replacing("GET", "/users/1/", "Arthur", "arthur"),
        "- {\"Id\":1,\"Name\":\"Arthur\"",
    );
}

#[test]
fn a_page_is_compared_line_by_line_and_a_carriage_return_is_visible() {
    let page = contract_server(|asked, bytes| {
        if asked.target != "/contact" || asked.method != "GET" {
            return bytes;
        }
        let text = String::from_utf8(bytes).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let body = body.replacen('\n', "\r\n", 1);
        let length = format!("content-length: {}", body.len());
        let head: Vec<&str> = head
            .split("\r\n")
            .map(|line| {
                if line.starts_with("content-length") {
                    length.as_str()
                } else {
                    line
                }
            })
            .collect();
        format!("{}\r\n\r\n{body}", head.join("\r\n")).into_bytes()
    });
    let text = stdout(&check(page, &[]));
    assert!(text.contains("they differ first in line 1"), "{text}");
    assert!(text.contains(r"\r\n"), "{text}");
}

#[test]
fn a_body_in_answer_to_head_spoils_the_connection() {
    let talkative = contract_server(|asked, mut bytes| {
        if asked.target == "/users/3" && asked.method == "HEAD" {
            bytes.extend_from_slice(b"HTTP/1.1 was not asked for");
        }
        bytes
    });
    refused(talkative, "HEAD the connection is of no use after HEAD");
}

#[test]
fn a_connection_closed_after_head_is_a_difference() {
    refused(
        replacing(
            "HEAD",
            "/users/3",
            "\r\n\r\n",
            "\r\nconnection: close\r\n\r\n",
        ),
        "HEAD the connection is of no use after HEAD: the server closed it",
    );
}

#[test]
fn head_must_have_the_headers_of_get() {
    refused(
        replacing("HEAD", "/users/9", "application/json", "text/plain"),
        r#"HEAD content-type: expected "application/json", got "text/plain""#,
    );
}

#[test]
fn a_server_that_hangs_up_gave_no_answer() {
    let rude = contract_server(|asked, bytes| match asked.target.as_str() {
        "/users/4" if asked.method == "GET" => Vec::new(),
        _ => bytes,
    });
    refused(
        rude,
        "GET no answer: the server closed the connection before it answered",
    );
}

#[test]
fn a_cut_answer_is_no_answer() {
    let cut = contract_server(|asked, bytes| match asked.target.as_str() {
        "/users/4" if asked.method == "GET" => {
            b"HTTP/1.0 200 OK\r\ncontent-type: application/json\r\n\r\nshort".to_vec()
        }
        _ => bytes,
    });
    // An HTTP/1.0 answer without a length ends with the connection, which this server keeps open: it times out.
    refused(cut, "GET no answer: no complete answer within");
}

#[test]
fn the_year_asked_for_is_the_year_expected() {
    let output = check(contract_server(|_, bytes| bytes), &["--year", "1999"]);
    assert_eq!(output.status.code(), Some(2), "given twice");
    let address = contract_server(|_, bytes| bytes);
    let output = Command::new(env!("CARGO_BIN_EXE_levelfield"))
        .args([
            "check",
            "--url",
            &format!("http://{address}"),
            "--year",
            "1999",
        ])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).contains("6 of "), "{}", stdout(&output));
}

#[test]
fn another_state_of_the_store_asks_other_cases() {
    let output = check(
        contract_server(|_, bytes| bytes),
        &["--store", "unreachable"],
    );
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("status: expected 503, got 200"), "{text}");
}

#[test]
fn the_results_can_be_had_as_json() {
    let address = replacing("GET", "/users/2", "200", "500");
    let output = check(address, &["--json"]);
    assert_eq!(output.status.code(), Some(1));
    let results: lab::results::ContractCheck = serde_json::from_slice(&output.stdout).unwrap();
    let failed: Vec<_> = results
        .cases
        .iter()
        .filter(|case| case.outcome != lab::results::CaseOutcome::Pass)
        .collect();
    assert_eq!(failed.len(), 1);
    assert_eq!(failed[0].case, "users: an _id stored as int64");
}

#[test]
fn nothing_listening_is_said_in_one_line() {
    let port = testbed::free_port();
    let output = check(([127, 0, 0, 1], port).into(), &[]);
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(text.lines().count(), 1, "{text}");
    assert!(
        text.contains(&port.to_string()) && text.contains("--url"),
        "{text}"
    );
}

#[test]
fn a_url_that_is_none_is_named() {
    for bad in [
        "https://127.0.0.1",
        "127.0.0.1:80",
        "http://",
        "http://127.0.0.1:1/path",
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_levelfield"))
            .args(["check", "--url", bad])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{bad}");
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(
            text.contains(bad) && text.contains("http://127.0.0.1:8083"),
            "{text}"
        );
    }
}
