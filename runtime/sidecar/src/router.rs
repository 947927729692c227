//! From a method and a raw path to a declared query and its parameters, in the contract's order of
//! judgement: the path's form, its match, the method, the parameters.

use std::sync::Arc;

use crate::param::{Param, Value};
use crate::query::Query;

/// A path as declared: `/users/{id:int32}`.
#[derive(Debug, Clone)]
pub struct Path {
    segments: Vec<Segment>,
}

#[derive(Debug, Clone)]
enum Segment {
    Literal(String),
    Param(Param),
}

/// Why a request reaches no query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    InvalidParameter,
    NotFound,
    MethodNotAllowed,
}

/// What a request may not be declared as, because the sidecar answers it itself.
const RESERVED: [&str; 3] = ["healthz", "readyz", "metrics"];

impl Path {
    pub fn declared(text: &str) -> Result<Self, String> {
        let rest = text
            .strip_prefix('/')
            .filter(|rest| !rest.is_empty())
            .ok_or_else(|| format!("path {text:?} does not start with / and a name"))?;
        let mut segments = Vec::new();
        for segment in rest.split('/') {
            let braced = segment
                .strip_prefix('{')
                .and_then(|rest| rest.strip_suffix('}'));
            segments.push(match braced {
                Some(declared) => Segment::Param(Param::declared(declared)?),
                None if is_literal(segment) => Segment::Literal(segment.to_owned()),
                None => {
                    return Err(format!(
                        "path {text:?}: {segment:?} is neither a plain name nor {{name:type}}"
                    ));
                }
            });
        }
        if let [Segment::Literal(only)] = &segments[..]
            && RESERVED.contains(&only.as_str())
        {
            return Err(format!("path {text:?} is answered by the sidecar itself"));
        }
        let path = Self { segments };
        let mut names: Vec<_> = path.params().map(|param| &param.name).collect();
        names.sort_unstable();
        match names.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(format!("path {text:?} declares {:?} twice", pair[0])),
            None => Ok(path),
        }
    }

    pub fn params(&self) -> impl Iterator<Item = &Param> {
        self.segments.iter().filter_map(|segment| match segment {
            Segment::Param(param) => Some(param),
            Segment::Literal(_) => None,
        })
    }

    /// Whether a path without its slash at the front and the end is of this form.
    fn matches(&self, path: &str) -> bool {
        let mut given = path.split('/');
        self.segments
            .iter()
            .all(|segment| match (segment, given.next()) {
                (Segment::Literal(literal), Some(given)) => literal == given,
                (Segment::Param(_), Some(given)) => !given.is_empty(),
                (_, None) => false,
            })
            && given.next().is_none()
    }

    /// The parameters of a path that matches, or `None` if one is not of its type.
    fn values(&self, path: &str) -> Option<Vec<Value>> {
        let given = self.segments.iter().zip(path.split('/'));
        given
            .filter_map(|(segment, given)| match segment {
                Segment::Param(param) => Some(param.kind.parse(given)),
                Segment::Literal(_) => None,
            })
            .collect()
    }

    /// Whether every `%` stands where a string parameter does.
    fn allows_percent_in(&self, path: &str) -> bool {
        self.segments
            .iter()
            .zip(path.split('/'))
            .all(|(segment, given)| match segment {
                Segment::Param(param) => param.kind.is_percent_encoded() || !given.contains('%'),
                Segment::Literal(_) => true,
            })
    }

    /// Literals before parameters, so that the more exact of two paths is tried first, and equal
    /// for two paths that match the same requests.
    fn rank(&self) -> impl Ord + use<> {
        let rank = |segment: &Segment| match segment {
            Segment::Literal(literal) => (false, literal.clone()),
            Segment::Param(_) => (true, String::new()),
        };
        self.segments.iter().map(rank).collect::<Vec<_>>()
    }
}

/// Unreserved characters (RFC 3986), which have one spelling, and not a dot segment.
fn is_literal(segment: &str) -> bool {
    let unreserved = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    !segment.is_empty() && segment.bytes().all(unreserved) && !matches!(segment, "." | "..")
}

/// All declared queries.
pub struct Router {
    queries: Vec<Arc<Query>>,
}

impl Router {
    pub fn new(mut queries: Vec<Arc<Query>>) -> Result<Self, String> {
        queries.sort_by_cached_key(|query| query.path.rank());
        let same = queries
            .windows(2)
            .find(|pair| pair[0].path.rank() == pair[1].path.rank());
        if let Some([one, other]) = same {
            return Err(format!(
                "query {:?} and query {:?} have paths that match the same requests",
                one.name, other.name
            ));
        }
        Ok(Self { queries })
    }

    pub fn queries(&self) -> &[Arc<Query>] {
        &self.queries
    }

    /// `path` is the path as it came, undecoded, without the query string.
    pub fn route(&self, method: &str, path: &str) -> Result<(&Arc<Query>, Vec<Value>), Refusal> {
        let trimmed = path.strip_prefix('/').unwrap_or(path);
        let trimmed = trimmed.strip_suffix('/').unwrap_or(trimmed);
        let query = self
            .queries
            .iter()
            .find(|query| query.path.matches(trimmed));
        if path.contains('%') && !query.is_some_and(|query| query.path.allows_percent_in(trimmed)) {
            return Err(Refusal::InvalidParameter);
        }
        let query = query
            .filter(|_| !path.contains("//"))
            .ok_or(Refusal::NotFound)?;
        if !matches!(method, "GET" | "HEAD") {
            return Err(Refusal::MethodNotAllowed);
        }
        let values = query
            .path
            .values(trimmed)
            .ok_or(Refusal::InvalidParameter)?;
        Ok((query, values))
    }
}
