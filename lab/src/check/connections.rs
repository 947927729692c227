//! The same answers however the requests come: in pieces, several at once, and a thousand one after another.

use std::time::Duration;

use super::{Asked, Case, CheckedCase, Difference, PATIENCE, compare};
use crate::http::{Connection, ExchangeError, Origin, Request, Response};
use crate::interrupt::Interrupt;

pub const GROUP: &str = "connections";

/// Between two pieces: long enough that they are read apart.
const PAUSE: Duration = Duration::from_millis(15);
const SOAK: usize = 1000;

/// Of a `GET` for each kind of answer, asked in all three ways.
pub fn check(origin: &Origin, cases: &[Case], interrupt: &Interrupt) -> Vec<CheckedCase> {
    let mut checked = vec![pipelined(origin, cases)];
    for case in cases {
        if interrupt.is_set() {
            break;
        }
        checked.push(in_pieces(origin, case));
        checked.push(soaked(origin, case, interrupt));
    }
    checked
}

fn in_pieces(origin: &Origin, case: &Case) -> CheckedCase {
    let request = request(case);
    let answer = Connection::open(origin, PATIENCE).and_then(|mut connection| {
        let bytes = connection.bytes_of(request);
        // Inside the method, the path, a header, and the empty line that ends the head.
        let cuts = [2, 6, bytes.len() / 2, bytes.len() - 2];
        let mut from = 0;
        for cut in cuts.into_iter().chain([bytes.len()]) {
            connection.send(&bytes[from..cut], PATIENCE)?;
            from = cut;
            std::thread::sleep(PAUSE);
        }
        connection.receive(request.method, PATIENCE)
    });
    let differences = differences(case, "GET", answer);
    checked(format!("{}, in five writes", case.name), case, differences)
}

fn pipelined(origin: &Origin, cases: &[Case]) -> CheckedCase {
    let mut found = Vec::new();
    match Connection::open(origin, PATIENCE) {
        Err(error) => found.push(no_answer("GET", &error)),
        Ok(mut connection) => {
            let all: Vec<u8> = cases
                .iter()
                .flat_map(|case| connection.bytes_of(request(case)))
                .collect();
            if let Err(error) = connection.send(&all, PATIENCE) {
                found.push(no_answer("GET", &error));
            }
            for (number, case) in cases.iter().enumerate() {
                let which = format!("{}. GET {}:", number + 1, case.target);
                let answer = connection.receive("GET", PATIENCE);
                let lost = answer.is_err();
                found.extend(differences(case, &which, answer));
                if lost {
                    break; // what comes next on this connection means nothing
                }
            }
        }
    }
    CheckedCase {
        group: GROUP,
        name: format!(
            "{} requests in one write are answered in order",
            cases.len()
        ),
        methods: "GET".into(),
        target: cases
            .first()
            .map(|case| case.target.clone())
            .unwrap_or_default()
            + " …",
        differences: found,
    }
}

fn soaked(origin: &Origin, case: &Case, interrupt: &Interrupt) -> CheckedCase {
    let request = request(case);
    let mut found = Vec::new();
    match Connection::open(origin, PATIENCE) {
        Err(error) => found.push(no_answer("GET", &error)),
        Ok(mut connection) => {
            for number in 1..=SOAK {
                let answer = connection.exchange(request, PATIENCE);
                let stays = answer.as_ref().is_ok_and(|answer| answer.keep_alive);
                found.extend(differences(
                    case,
                    &format!("GET, the {number}. time:"),
                    answer,
                ));
                if !stays && number < SOAK && found.is_empty() {
                    let why = format!("the server closed it after {number} requests");
                    found.push(asked("GET", Difference::ConnectionUnusable(why)));
                }
                if !found.is_empty() || interrupt.is_set() {
                    break;
                }
            }
        }
    }
    checked(
        format!("{}, {SOAK} times on one connection", case.name),
        case,
        found,
    )
}

fn request(case: &Case) -> Request<'_> {
    Request {
        method: &case.method,
        target: &case.target,
    }
}

fn differences(case: &Case, which: &str, answer: Result<Response, ExchangeError>) -> Vec<Asked> {
    match answer {
        Err(error) => vec![no_answer(which, &error)],
        Ok(answer) => compare(&case.expected, &answer, false)
            .into_iter()
            .map(|difference| asked(which, difference))
            .collect(),
    }
}

fn no_answer(which: &str, error: &ExchangeError) -> Asked {
    asked(which, Difference::NoAnswer(error.to_string()))
}

fn asked(which: &str, difference: Difference) -> Asked {
    Asked {
        method: which.to_owned(),
        difference,
    }
}

fn checked(name: String, case: &Case, differences: Vec<Asked>) -> CheckedCase {
    CheckedCase {
        group: GROUP,
        name,
        methods: "GET".into(),
        target: case.target.clone(),
        differences,
    }
}
