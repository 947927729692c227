//! What a server answered otherwise than the contract says, as types that print themselves.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use super::case::Expected;
use crate::http::Response;

/// The headers that the contract compares exactly.
const COMPARED: [&str; 4] = ["content-type", "content-length", "retry-after", "allow"];

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    Status {
        expected: u16,
        got: u16,
    },
    Header {
        name: &'static str,
        expected: Option<String>,
        got: Option<String>,
    },
    Body {
        expected: Vec<u8>,
        got: Vec<u8>,
    },
    /// The answer came, but later than the contract allows.
    Late {
        at_most: Duration,
        took: Duration,
    },
    /// The answer came sooner than the contract says: nobody waited for the store.
    Early {
        at_least: Duration,
        took: Duration,
    },
    NoAnswer(String),
    /// After a HEAD the connection did not answer the next request.
    ConnectionUnusable(String),
}

/// Compares an answer; `to_head` when it answers a HEAD, whose headers are those of GET and whose body is none.
pub fn compare(expected: &Expected, got: &Response, to_head: bool) -> Vec<Difference> {
    let mut differences = Vec::new();
    if got.status != expected.status {
        differences.push(Difference::Status {
            expected: expected.status,
            got: got.status,
        });
    }
    for name in COMPARED {
        let wanted = match name {
            "content-length" => Some(expected.body.len().to_string()),
            _ => expected.headers.get(name).cloned(),
        };
        let found = got.header(name);
        let same = match name {
            "allow" => methods(wanted.as_deref()) == methods(found.as_deref()),
            _ => wanted == found,
        };
        if !same {
            differences.push(Difference::Header {
                name,
                expected: wanted,
                got: found,
            });
        }
    }
    if !to_head && got.body != expected.body {
        differences.push(Difference::Body {
            expected: expected.body.clone(),
            got: got.body.clone(),
        });
    }
    differences
}

fn methods(allow: Option<&str>) -> BTreeSet<String> {
    allow
        .unwrap_or_default()
        .split(',')
        .map(|method| method.trim().to_owned())
        .filter(|method| !method.is_empty())
        .collect()
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |value: &Option<String>| match value {
            Some(value) => format!("{value:?}"),
            None => "none".to_owned(),
        };
        match self {
            Self::Status { expected, got } => write!(f, "status: expected {expected}, got {got}"),
            Self::Header {
                name,
                expected,
                got,
            } => write!(
                f,
                "{name}: expected {}, got {}",
                shown(expected),
                shown(got)
            ),
            Self::Body { expected, got } => write_body(f, expected, got),
            Self::Late { at_most, took } => write!(
                f,
                "time: expected at most {} ms, took {} ms",
                at_most.as_millis(),
                took.as_millis()
            ),
            Self::Early { at_least, took } => write!(
                f,
                "time: expected at least {} ms, took {} ms",
                at_least.as_millis(),
                took.as_millis()
            ),
            Self::NoAnswer(why) => write!(f, "no answer: {why}"),
            Self::ConnectionUnusable(why) => {
                write!(f, "the connection is of no use after HEAD: {why}")
            }
        }
    }
}

/// The first line that differs, expected over got; both are named by number when the body has several lines.
fn write_body(f: &mut fmt::Formatter<'_>, expected: &[u8], got: &[u8]) -> fmt::Result {
    let expected_lines: Vec<&[u8]> = expected.split_inclusive(|&byte| byte == b'\n').collect();
    let got_lines: Vec<&[u8]> = got.split_inclusive(|&byte| byte == b'\n').collect();
    let first = expected_lines
        .iter()
        .zip(&got_lines)
        .take_while(|(a, b)| a == b)
        .count();
    write!(f, "body: ")?;
    if expected_lines.len() > 1 || got_lines.len() > 1 {
        write!(
            f,
            "{} bytes expected, {} got; they differ first in line {}",
            expected.len(),
            got.len(),
            first + 1
        )?;
    } else {
        write!(f, "the bytes differ")?;
    }
    write!(f, "\n- {}", shown_line(expected_lines.get(first)))?;
    write!(f, "\n+ {}", shown_line(got_lines.get(first)))
}

/// One line, control characters escaped so that CR, tabs and marks can be seen, cut at a width that can be read.
fn shown_line(line: Option<&&[u8]>) -> String {
    const WIDTH: usize = 160;
    let Some(line) = line else {
        return "(nothing)".to_owned();
    };
    let text: String = String::from_utf8_lossy(line)
        .chars()
        .flat_map(|character| match character {
            ' '..='~' => vec![character],
            other if other.is_alphanumeric() => vec![other],
            other => other.escape_default().collect(),
        })
        .collect();
    match text.char_indices().nth(WIDTH) {
        Some((end, _)) => format!("{} …", &text[..end]),
        None => text,
    }
}
