//! A declared query, checked and ready: what a request of its path reads, and what it answers.

use std::time::Duration;

use bson::Document;

use crate::answer::Answer;
use crate::cache::Cache;
use crate::metrics::QueryMetrics;
use crate::param::Value;
use crate::quota::Quota;
use crate::router::Path;
use crate::shape::Shape;
use crate::template::Template;

pub struct Query {
    pub name: String,
    pub path: Path,
    pub database: String,
    pub collection: String,
    pub filter: Template,
    pub projection: Option<Document>,
    pub sort: Option<Document>,
    pub returns: Returns,
    pub shape: Shape,
    pub answers: Answers,
    pub cache: Option<Cache>,
    pub metrics: std::sync::Arc<QueryMetrics>,
    /// Of what is logged when the store fails, and when a document is not what it should be.
    pub store_log: Quota,
    pub document_log: Quota,
}

/// How many documents an answer holds.
#[derive(Debug, Clone, Copy)]
pub enum Returns {
    /// The first, as an object; without one, `not_found`.
    One,
    /// All up to a limit, as an array; without one, an empty array.
    Many(Limit),
}

#[derive(Debug, Clone, Copy)]
pub enum Limit {
    Fixed(u32),
    /// The parameter of this index.
    Param(usize),
}

/// What a query answers when there are no documents to answer with.
pub struct Answers {
    pub not_found: Answer,
    pub malformed: Answer,
    pub too_large: Answer,
    pub unavailable: Answer,
    pub timed_out: Answer,
}

impl Answers {
    pub fn new(name: &str, not_found: &str, malformed: &str) -> Self {
        Self {
            not_found: Answer::message(404, not_found),
            malformed: Answer::message(500, malformed),
            too_large: Answer::message(500, &format!("{name} answer is too large")),
            unavailable: Answer::message(503, &format!("{name} store unavailable"))
                .with("retry-after", "1"),
            timed_out: Answer::message(504, &format!("{name} store timed out")),
        }
    }
}

/// How long and how many answers a query keeps.
#[derive(Debug, Clone, Copy)]
pub struct CachePolicy {
    pub ttl: Duration,
    pub max_entries: u64,
}

impl Query {
    /// The most documents that a request asks for.
    pub fn limit(&self, values: &[Value]) -> u32 {
        match self.returns {
            Returns::One => 1,
            Returns::Many(Limit::Fixed(limit)) => limit,
            Returns::Many(Limit::Param(index)) => match values[index] {
                // The declaration bounds it from 1 to the largest limit.
                Value::Int32(number) => number.unsigned_abs(),
                Value::Int64(number) => u32::try_from(number).unwrap_or(1),
                _ => 1,
            },
        }
    }
}
