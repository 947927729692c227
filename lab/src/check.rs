//! The contract suite, asked of a server over HTTP.

mod case;
mod connections;
mod difference;
mod print;
mod random;

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use anyhow::Context;

pub use case::{Case, Expected, StoreState, all as cases};
pub use difference::{Difference, compare};
pub use print::print;

use crate::http::{Connection, ExchangeError, Origin, Request, Response};
use crate::interrupt::Interrupt;
use crate::results::{CaseOutcome, CaseResult, ContractCheck};

/// Longer than anything that the contract allows a server to take.
const PATIENCE: Duration = Duration::from_secs(10);

/// What is asked of a server.
pub struct Suite<'a> {
    /// The year that the pages show.
    pub year: u16,
    pub store: StoreState,
    /// Only the cases about that state: the others do not look at the store.
    pub only_about_store: bool,
    /// Of the random ids.
    pub seed: u64,
    pub interrupt: &'a Interrupt,
}

/// The answer of one server to the suite.
pub struct Checked {
    pub cases: Vec<CheckedCase>,
}

pub struct CheckedCase {
    pub group: &'static str,
    pub name: String,
    /// As a person reads it: "GET, HEAD".
    pub methods: String,
    pub target: String,
    pub differences: Vec<Asked>,
}

/// What one request of a case showed.
pub struct Asked {
    pub method: String,
    pub difference: Difference,
}

#[derive(Debug, thiserror::Error)]
#[error("interrupted")]
pub struct Interrupted;

/// The cases that are asked in pieces, together, and a thousand times: one for each kind of answer. Those about a broken
/// store are not: a thousand answers after two seconds each say nothing that one does not.
const TO_REPEAT: [&str; 7] = [
    "/helloWorld",
    "/api/values/5",
    "/",
    "/about",
    "/contact",
    "/users/1",
    "/nothing",
];

/// Asks every case that the state of the store allows. The error is that nothing listens at `origin`, or that it was
/// interrupted.
pub fn check(origin: &Origin, suite: &Suite<'_>) -> anyhow::Result<Checked> {
    Connection::open(origin, PATIENCE)
        .with_context(|| format!("no server at {origin}: start one, or name another by --url"))?;
    let all = cases(suite.year)?;
    let asked = |case: &&Case| match case.store {
        Some(state) => state == suite.store,
        None => !suite.only_about_store,
    };
    let mut checked = Vec::new();
    for case in all.iter().filter(asked) {
        if suite.interrupt.is_set() {
            return Err(Interrupted.into());
        }
        checked.push(ask(origin, case));
    }
    if !suite.only_about_store {
        if suite.store == StoreState::Up {
            checked.extend(random::check(origin, &all, suite.seed));
        }
        let repeated: Vec<Case> = TO_REPEAT
            .iter()
            .filter_map(|target| {
                let of_target = |case: &&Case| {
                    case.method == "GET"
                        && case.target == *target
                        && case.store.is_none_or(|state| state == StoreState::Up)
                };
                all.iter().filter(asked).find(of_target).cloned()
            })
            .collect();
        checked.extend(connections::check(origin, &repeated, suite.interrupt));
    }
    match suite.interrupt.is_set() {
        true => Err(Interrupted.into()),
        false => Ok(Checked { cases: checked }),
    }
}

impl Checked {
    pub fn failed(&self) -> usize {
        self.cases.iter().filter(|case| !case.passed()).count()
    }

    pub fn passed(&self) -> bool {
        self.failed() == 0
    }

    pub fn into_results(self, target: &str) -> ContractCheck {
        ContractCheck {
            target: target.to_owned(),
            cases: self
                .cases
                .into_iter()
                .map(|checked| CaseResult {
                    case: checked.title(),
                    outcome: match checked.passed() {
                        true => CaseOutcome::Pass,
                        false => CaseOutcome::Fail {
                            difference: checked.difference(),
                        },
                    },
                })
                .collect(),
        }
    }
}

impl CheckedCase {
    pub fn passed(&self) -> bool {
        self.differences.is_empty()
    }

    /// Group and name: unique in the suite.
    pub fn title(&self) -> String {
        format!("{}: {}", self.group, self.name)
    }

    /// Every difference, each beginning with the method that showed it.
    pub fn difference(&self) -> String {
        let mut text = String::new();
        for asked in &self.differences {
            if !text.is_empty() {
                text.push('\n');
            }
            // Writing to a String cannot fail.
            let _ = write!(text, "{} {}", asked.method, asked.difference);
        }
        text
    }
}

fn ask(origin: &Origin, case: &Case) -> CheckedCase {
    let mut asking = Asking {
        origin,
        connection: None,
        case,
        differences: Vec::new(),
    };
    asking.request(&case.method);
    let mut methods = case.method.clone();
    if case.method == "GET" {
        asking.request("HEAD");
        asking.next_request_is_answered();
        methods.push_str(", HEAD");
    }
    CheckedCase {
        group: case.group,
        name: case.name.clone(),
        methods,
        target: case.target.clone(),
        differences: asking.differences,
    }
}

/// One case on one connection, which is kept for HEAD and what follows it.
struct Asking<'a> {
    origin: &'a Origin,
    connection: Option<Connection>,
    case: &'a Case,
    differences: Vec<Asked>,
}

impl Asking<'_> {
    fn request(&mut self, method: &str) {
        let began = Instant::now();
        let answer = self.exchange(Request {
            method,
            target: &self.case.target,
        });
        let took = began.elapsed();
        match answer {
            Err(error) => self.note(method, Difference::NoAnswer(error.to_string())),
            Ok(answer) => {
                for difference in compare(&self.case.expected, &answer, method == "HEAD") {
                    self.note(method, difference);
                }
                if let Some(at_most) = self.case.at_most.filter(|&at_most| took > at_most) {
                    self.note(method, Difference::Late { at_most, took });
                }
                if let Some(at_least) = self.case.at_least.filter(|&at_least| took < at_least) {
                    self.note(method, Difference::Early { at_least, took });
                }
            }
        }
    }

    /// A body sent in answer to HEAD would be read as the start of the next answer.
    fn next_request_is_answered(&mut self) {
        if self.connection.is_none() {
            if self.differences.is_empty() {
                let why = "the server closed it".to_owned();
                self.note("HEAD", Difference::ConnectionUnusable(why));
            }
            return;
        }
        let next = Request {
            method: "GET",
            target: "/helloWorld",
        };
        match self.exchange(next) {
            Ok(answer) if answer.status == 200 => {}
            Ok(answer) => {
                let why = format!("GET /helloWorld was answered with {}", answer.status);
                self.note("HEAD", Difference::ConnectionUnusable(why));
            }
            Err(error) => {
                self.note("HEAD", Difference::ConnectionUnusable(error.to_string()));
            }
        }
    }

    fn exchange(&mut self, request: Request<'_>) -> Result<Response, ExchangeError> {
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => Connection::open(self.origin, PATIENCE)?,
        };
        let answer = connection.exchange(request, PATIENCE)?;
        if answer.keep_alive {
            self.connection = Some(connection);
        }
        Ok(answer)
    }

    fn note(&mut self, method: &str, difference: Difference) {
        self.differences.push(Asked {
            method: method.to_owned(),
            difference,
        });
    }
}
