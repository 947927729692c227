//! Where documents come from: MongoDB, memory, or for measurement nowhere. Each store hands raw
//! documents to [`Rows`], which writes the answer's JSON as they come.

mod embedded;
mod filter;
mod mongodb;
mod order;

use bson::RawDocument;
use tokio::time::Instant;

pub use self::embedded::Embedded;
pub use self::mongodb::Mongodb;
use crate::param::Value;
use crate::query::{Query, Returns};
use crate::shape::Malformed;

/// The largest answer: what MongoDB allows one document to be.
const LARGEST_ANSWER: usize = 16 * 1024 * 1024;

pub enum Store {
    Mongodb(Box<Mongodb>),
    Embedded(Embedded),
    /// Answers every query with one made-up document: what the sidecar itself costs.
    Null,
}

/// Why a store gave no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// No server could be reached, or there was no room to ask it.
    Unavailable(String),
    /// A server was reached and did not answer in time.
    TimedOut,
    /// A document is not what the query's fields say.
    Malformed(Malformed),
    TooLarge,
}

impl Store {
    /// Whether the store can serve a query at all.
    pub fn check(&self, query: &Query) -> Result<(), String> {
        match self {
            Self::Embedded(embedded) => embedded.check(query),
            Self::Mongodb(_) | Self::Null => Ok(()),
        }
    }

    /// The JSON of what a query finds, or `None` if it wants one document and there is none.
    pub async fn find(
        &self,
        query: &Query,
        values: &[Value],
        deadline: Instant,
    ) -> Result<Option<Vec<u8>>, Failure> {
        let mut rows = Rows::new(query);
        match self {
            Self::Mongodb(mongodb) => mongodb.find(query, values, &mut rows, deadline).await?,
            Self::Embedded(embedded) => embedded.find(query, values, &mut rows)?,
            Self::Null => rows.push(query.shape.sample())?,
        }
        Ok(rows.finish())
    }

    /// One round trip to the store.
    pub async fn ping(&self) -> Result<(), Failure> {
        match self {
            Self::Mongodb(mongodb) => mongodb.ping().await,
            Self::Embedded(_) | Self::Null => Ok(()),
        }
    }

    /// Gives up connections that nothing comes over any more.
    pub fn reconnect(&self) {
        if let Self::Mongodb(mongodb) = self {
            mongodb.reconnect();
        }
    }

    /// Lets go of all connections.
    pub async fn close(&self) {
        if let Self::Mongodb(mongodb) = self {
            mongodb.close().await;
        }
    }

    /// The most requests at the store at once, where there is such a bound.
    pub fn pool_size(&self) -> Option<u32> {
        match self {
            Self::Mongodb(mongodb) => Some(mongodb.pool_size()),
            Self::Embedded(_) | Self::Null => None,
        }
    }
}

/// An answer in the making.
pub struct Rows<'q> {
    query: &'q Query,
    json: Vec<u8>,
    count: usize,
}

impl<'q> Rows<'q> {
    fn new(query: &'q Query) -> Self {
        Self {
            query,
            json: Vec::with_capacity(256),
            count: 0,
        }
    }

    fn push(&mut self, document: &RawDocument) -> Result<(), Failure> {
        if matches!(self.query.returns, Returns::Many(_)) {
            self.json.push(if self.count == 0 { b'[' } else { b',' });
        }
        self.count += 1;
        self.query
            .shape
            .write(&mut self.json, document)
            .map_err(Failure::Malformed)?;
        if self.json.len() > LARGEST_ANSWER {
            Err(Failure::TooLarge)
        } else {
            Ok(())
        }
    }

    fn finish(mut self) -> Option<Vec<u8>> {
        match self.query.returns {
            Returns::One => (self.count > 0).then_some(self.json),
            Returns::Many(_) => {
                if self.count == 0 {
                    self.json.push(b'[');
                }
                self.json.push(b']');
                Some(self.json)
            }
        }
    }
}
