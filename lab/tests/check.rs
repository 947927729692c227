//! `levelfield check` against a server that keeps the contract, and against one wrong server for each way of being wrong.

mod support;

use std::net::SocketAddr;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use lab::check::{Case, StoreState, cases};
use support::{Asked, answer, serve};
use testbed::{Process, Ready};

const YEAR: u16 = 2031;

/// Neither decoded nor in several segments: those have cases of their own.
fn is_drawn(target: &str) -> bool {
    let id = target.trim_start_matches("/users/");
    !id.is_empty() && !id.contains(['%', '/', '?'])
}

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
        let of = |target: &str| {
            let found = cases
                .iter()
                .find(|case| case.method == method && case.target == target);
            found.unwrap_or_else(|| panic!("nobody asks {} {}", asked.method, asked.target))
        };
        // The drawn ids are in no case: each is answered as the id that is in one.
        let drawn = asked
            .target
            .strip_prefix("/users/")
            .filter(|_| method == "GET");
        let case = match drawn.map(|id| id.parse::<contract::UserId>()) {
            Some(Ok(id)) if id.get() < 10 => of(&format!("/users/{id}")),
            Some(Ok(_)) => of("/users/4242"),
            Some(Err(_)) if is_drawn(&asked.target) => of("/users/abc"),
            _ => of(&asked.target),
        };
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

/// The server is refused, one case fails beside those that repeat it, and the output says `what`.
fn refused(address: SocketAddr, what: &str) {
    let output = check(address, &[]);
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains(what), "{what:?} is not in:\n{text}");
    let (cases, _repeated) = text.split_once("\nrandom ids\n").unwrap();
    let failed = cases.matches("  FAIL  ").count();
    assert_eq!(failed, 1, "more than one case fails:\n{text}");
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
        "/users/0" if asked.method == "GET" => Vec::new(),
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
        "/users/0" if asked.method == "GET" => {
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
    // Three pages with and without a slash or a query, each page in pieces and often, and all together.
    assert!(stdout(&output).contains("13 of "), "{}", stdout(&output));
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
    assert_eq!(failed[0].case, "users: an _id stored as int64");
    let others = &failed[1..];
    assert!(
        others
            .iter()
            .all(|case| case.case.starts_with("random ids: ")),
        "{others:?}"
    );
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

#[test]
fn an_answer_about_a_broken_store_has_its_time() {
    let answers = |status: u16, retry: &'static [(&str, &str)], body: &'static str, took: u64| {
        serve(move |asked| {
            std::thread::sleep(Duration::from_millis(if asked.target == "/users/1" {
                took
            } else {
                0
            }));
            let headers = [&[("content-type", "application/json")], retry].concat();
            answer(asked, status, &headers, body)
        })
    };
    let late = answers(
        503,
        &[("retry-after", "1")],
        r#"{"message":"users store unavailable"}"#,
        1600,
    );
    let text = stdout(&check(late, &["--store", "unreachable"]));
    assert!(
        text.contains("GET time: expected at most 1500 ms, took 16"),
        "{text}"
    );

    let silent = |took| answers(504, &[], r#"{"message":"users store timed out"}"#, took);
    let text = stdout(&check(silent(3100), &["--store", "stalled"]));
    assert!(
        text.contains("GET time: expected at most 3000 ms, took 31"),
        "{text}"
    );
    let text = stdout(&check(silent(100), &["--store", "stalled"]));
    assert!(
        text.contains("GET time: expected at least 1000 ms, took 10"),
        "{text}"
    );
    let text = stdout(&check(silent(2000), &["--store", "stalled"]));
    assert!(!text.contains(" ms, took "), "{text}");
}

#[test]
fn a_server_that_knows_the_cases_by_heart_is_found_out_by_ids_that_it_cannot_know() {
    let by_heart = contract_server(|asked, bytes| {
        let drawn = asked.target.strip_prefix("/users/").is_some_and(|id| {
            id.len() > 4
                && !cases(YEAR)
                    .unwrap()
                    .iter()
                    .any(|case| case.target == asked.target)
        });
        match drawn {
            true => answer(
                asked,
                404,
                &[("content-type", "application/json")],
                r#"{"message":"user not found"}"#,
            ),
            false => bytes,
        }
    });
    let output = check(by_heart, &["--seed", "7"]);
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text.contains("FAIL  GET        /users/{id}                   no ids, 32 with seed 7"),
        "{text}"
    );
    assert!(
        text.contains("pass  GET        /users/{id}                   nobody's, 32 with seed 7"),
        "{text}"
    );
}

#[test]
fn a_server_that_takes_a_read_for_a_request_is_found_out() {
    let text = stdout(&check(support::careless_server(), &[]));
    assert!(
        text.contains("pass  GET, HEAD  /helloWorld                   a greeting"),
        "{text}"
    );
    assert!(
        text.contains("FAIL  GET        /helloWorld                   a greeting, in five writes"),
        "{text}"
    );
    assert!(
        text.contains("FAIL  GET        /helloWorld …                 7 requests in one write"),
        "{text}"
    );
}

#[test]
fn a_server_that_tires_is_found_out_by_a_thousand_requests() {
    let asked_so_far = AtomicUsize::new(0);
    let tiring = contract_server(move |asked, bytes| {
        let number = match asked.target == "/api/values/5" && asked.method == "GET" {
            true => asked_so_far.fetch_add(1, Ordering::Relaxed),
            false => 0,
        };
        if number == 800 {
            answer(asked, 503, &[], "")
        } else {
            bytes
        }
    });
    let text = stdout(&check(tiring, &[]));
    assert!(
        text.contains("GET, the 798. time: status: expected 200, got 503"),
        "{text}"
    );
    assert_eq!(text.matches("  FAIL  ").count(), 1, "{text}");
}

#[test]
fn a_check_that_is_interrupted_ends_soon_and_leaves_nothing() {
    let bench = support::bench::Bench::new();
    let toml = bench.dir.path().join("bench.toml");
    // Its server answers every case wrongly, and two seconds late.
    let text = support::bench::BENCH
        .replacen("contract = false", "", 1)
        .replacen(r#""{port}"]"#, r#""{port}", "hello", "1000000", "2"]"#, 1);
    std::fs::write(&toml, text).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_levelfield"));
    command
        .args(["check", "--targets", "one", "--config"])
        .arg(&toml);
    let mut run = Process::start(&mut command, Ready::AtOnce, Duration::from_secs(5)).unwrap();
    let pid = run.pid();
    support::bench::wait_until("its server runs", || {
        !support::bench::marked(pid).is_empty()
    });
    std::thread::sleep(Duration::from_millis(500));
    run.signal(libc::SIGINT);
    let status = run.wait(Duration::from_secs(30)).expect("it ends");
    assert_eq!(status.code(), Some(130), "{}", run.output());
    assert_eq!(support::bench::marked(pid), [] as [u32; 0]);
}
