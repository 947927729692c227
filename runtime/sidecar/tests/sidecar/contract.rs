//! The contract's users route, the same over every store.

use std::time::{Duration, Instant};

use contract::Answer as Expected;
use testbed::mongo::Kind;

use crate::harness::{ARTHUR, Sidecar, TIMED_OUT, own_store, store};
use crate::proxy::{Fault, Proxy};

/// Every fixture of the seed, and what is asked wrongly.
fn assert_serves_the_contract(sidecar: &Sidecar) {
    let user = |id, name: &str, surname: &str, email: &str| {
        format!(r#"{{"Id":{id},"Name":"{name}","Surname":"{surname}","Email":"{email}"}}"#)
    };
    for (path, body) in [
        ("/users/1", ARTHUR.to_owned()),
        ("/users/0000000001", ARTHUR.to_owned()),
        ("/users/1/", ARTHUR.to_owned()),
        ("/users/1?x=%", ARTHUR.to_owned()),
        ("/users/2", user(2, "Sadie", "Adler", "SadieAdler@mail.com")),
        (
            "/users/3",
            user(3, "Charles", "Smith", "CharlesSmith@mail.com"),
        ),
        (
            "/users/4",
            user(4, "Zoë O'Neil & <Sons>", "O'Neil", "zoe@mail.com"),
        ),
        ("/users/5", user(5, "Lenny", "", "LennySummers@mail.com")),
        (
            "/users/9",
            user(9, "Tilly", "Jackson", "TillyJackson@mail.com"),
        ),
    ] {
        assert_eq!(sidecar.says(path), (200, body), "{path}");
    }
    for (path, expected) in [
        ("/users/6", Expected::user_malformed()),
        ("/users/7", Expected::user_malformed()),
        ("/users/8", Expected::user_malformed()),
        ("/users/0", Expected::user_not_found()),
        ("/users/2147483647", Expected::user_not_found()),
        ("/users/2147483648", Expected::invalid_path_parameter()),
        ("/users/-1", Expected::invalid_path_parameter()),
        ("/users/+1", Expected::invalid_path_parameter()),
        ("/users/1.5", Expected::invalid_path_parameter()),
        ("/users/%31", Expected::invalid_path_parameter()),
        ("/nowhere%20", Expected::invalid_path_parameter()),
        ("/users//1", Expected::not_found()),
        ("/users", Expected::not_found()),
        ("/users/", Expected::not_found()),
        ("/users/1/2", Expected::not_found()),
        ("/", Expected::not_found()),
    ] {
        let answer = sidecar.get(path);
        assert_eq!(answer.status, expected.status, "{path}");
        assert_eq!(answer.text(), expected.body, "{path}");
        assert_eq!(
            answer.header("content-type"),
            Some(expected.content_type),
            "{path}"
        );
        let length = expected.body.len().to_string();
        assert_eq!(answer.header("content-length"), Some(&*length), "{path}");
    }
    let logged = r#"document with _id 6 in users is malformed: field "email""#;
    assert!(
        sidecar.process.output().contains(logged),
        "{}",
        sidecar.process.output()
    );
}

#[test]
fn from_memory() {
    assert_serves_the_contract(&Sidecar::embedded(&[]));
}

#[test]
fn from_every_server() {
    for kind in Kind::OURS {
        let Some(mongo) = store(&format!("the contract over {}", kind.name()), Some(kind)) else {
            continue;
        };
        let sidecar = Sidecar::mongodb(mongo.connection_string(), &[]);
        sidecar.wait_until_ready();
        assert_serves_the_contract(&sidecar);
    }
}

#[test]
fn the_first_line_says_which_store_and_how_to_choose_another() {
    let line = Sidecar::embedded(&[]).process.output();
    assert!(
        line.contains("9 documents from memory (the built-in seed)"),
        "{line}"
    );
    assert!(line.contains("CONNECTION_STRING=mongodb://"), "{line}");
    let line = Sidecar::mongodb("mongodb://me:s3cret@127.0.0.1:1/", &[])
        .process
        .output();
    assert!(line.contains("MongoDB at 127.0.0.1:1"), "{line}");
    assert!(!line.contains("s3cret"), "{line}");
}

#[test]
fn without_a_server_the_answer_is_503_in_time() {
    let sidecar = Sidecar::mongodb("mongodb://127.0.0.1:1/?directConnection=true", &[]);
    for _ in 0..3 {
        let begun = std::time::Instant::now();
        let answer = sidecar.get("/users/1");
        assert_eq!(answer.text(), Expected::store_unavailable().body);
        assert_eq!(
            (answer.status, answer.header("retry-after")),
            (503, Some("1"))
        );
        assert!(begun.elapsed().as_millis() < 1500, "{:?}", begun.elapsed());
    }
    assert_eq!(sidecar.get("/healthz").status, 200);
    assert_eq!(sidecar.get("/readyz").status, 503);
    assert_eq!(sidecar.metric("sidecar_store_up"), 0);
}

#[test]
fn a_server_that_falls_silent_is_504_in_time_and_stays_so() {
    let Some(mongo) = own_store("a silent server") else {
        return;
    };
    let proxy = Proxy::to(mongo.port());
    let sidecar = Sidecar::mongodb(&proxy.connection_string(), &[]);
    sidecar.wait_until_ready();
    assert_eq!(sidecar.says("/users/1"), (200, ARTHUR.to_owned()));
    proxy.set(Fault::BlackHole);
    let silent = Instant::now();
    while silent.elapsed() < Duration::from_secs(8) {
        let begun = Instant::now();
        assert_eq!(
            sidecar.says("/users/1"),
            (504, TIMED_OUT.to_owned()),
            "{:?}",
            silent.elapsed()
        );
        assert!(
            begun.elapsed() < Duration::from_millis(3500),
            "{:?}",
            begun.elapsed()
        );
        std::thread::sleep(Duration::from_millis(100));
    }
}
