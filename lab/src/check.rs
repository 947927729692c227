//! The contract suite, asked of a server over HTTP.

mod case;
mod difference;
mod print;

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use anyhow::Context;

pub use case::{Case, Expected, StoreState, all as cases};
pub use difference::{Difference, compare};
pub use print::print;

use crate::http::{Connection, ExchangeError, Origin, Request, Response};
use crate::results::{CaseOutcome, CaseResult, ContractCheck};

/// Longer than anything that the contract allows a server to take.
const PATIENCE: Duration = Duration::from_secs(10);

/// The answer of one server to the suite.
pub struct Checked {
    pub cases: Vec<CheckedCase>,
}

pub struct CheckedCase {
    pub case: Case,
    pub differences: Vec<Asked>,
    pub took: Duration,
}

/// What one request of a case showed.
pub struct Asked {
    pub method: String,
    pub difference: Difference,
}

/// Asks every case that the state of the store allows, or only those about that state. The error is that nothing
/// listens at `origin`.
pub fn check(
    origin: &Origin,
    year: u16,
    store: StoreState,
    only_about_store: bool,
) -> anyhow::Result<Checked> {
    Connection::open(origin, PATIENCE)
        .with_context(|| format!("no server at {origin}: start one, or name another by --url"))?;
    let cases = cases(year)?
        .into_iter()
        .filter(|case| match case.store {
            Some(state) => state == store,
            None => !only_about_store,
        })
        .map(|case| ask(origin, case))
        .collect();
    Ok(Checked { cases })
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
        format!("{}: {}", self.case.group, self.case.name)
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

fn ask(origin: &Origin, case: Case) -> CheckedCase {
    let mut asking = Asking {
        origin,
        connection: None,
        case: &case,
        differences: Vec::new(),
    };
    let began = Instant::now();
    asking.request(&case.method);
    let took = began.elapsed();
    if case.method == "GET" {
        asking.request("HEAD");
        asking.next_request_is_answered();
    }
    let differences = asking.differences;
    CheckedCase {
        case,
        differences,
        took,
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
                if let Some(at_most) = self.case.at_most
                    && took > at_most
                {
                    self.note(method, Difference::Late { at_most, took });
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
