//! The users in MongoDB, through one pooled client for the life of the process.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use contract::{Answer, User, UserId};
use mongodb::bson::{RawDocument, RawDocumentBuf, doc};
use mongodb::error::{Error, ErrorKind};
use mongodb::options::ClientOptions;
use mongodb::{Client, Collection};
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout, timeout_at};

/// From accepting a request to its answer, as the contract says.
const DEADLINE: Duration = Duration::from_secs(2);

/// How long to look for a server, or to wait for room in the pool: "503 by 1.5 s at the latest".
const SELECTION: Duration = Duration::from_secs(1);

/// The driver's own default for `maxPoolSize`.
const POOL_SIZE: u32 = 10;

#[derive(Clone)]
pub struct Users {
    collection: Collection<RawDocumentBuf>,
    /// One permit for each connection: the driver cannot be told how long to wait for its pool.
    room: Arc<Semaphore>,
}

/// Why there is no answer from the store.
#[derive(Debug)]
pub enum Failure {
    Unavailable(String),
    TimedOut,
    Malformed { field: &'static str },
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unavailable(why) => write!(f, "users store unavailable: {why}"),
            Self::TimedOut => write!(f, "users store timed out"),
            Self::Malformed { field } => write!(f, "user record is malformed: field {field}"),
        }
    }
}

impl Users {
    /// Does not connect yet: the driver does so in the background and keeps trying.
    pub async fn at(connection_string: &str) -> anyhow::Result<Self> {
        let mut options = ClientOptions::parse(connection_string)
            .await
            .context("CONNECTION_STRING is not one that MongoDB's driver accepts")?;
        options.server_selection_timeout.get_or_insert(SELECTION);
        options.connect_timeout.get_or_insert(DEADLINE);
        let room = *options.max_pool_size.get_or_insert(POOL_SIZE);
        let client = Client::with_options(options)
            .context("CONNECTION_STRING is not one that MongoDB's driver accepts")?;
        Ok(Self {
            collection: client.database("mongo").collection("users"),
            room: Arc::new(Semaphore::new(room as usize)),
        })
    }

    /// The answer for this user, or why there is none.
    pub async fn find(&self, id: UserId) -> Result<Answer, Failure> {
        let deadline = Instant::now() + DEADLINE;
        let _room = timeout(SELECTION, self.room.acquire())
            .await
            .map_err(|_| Failure::Unavailable("no room in the pool".to_owned()))?;
        let found = self.collection.find_one(doc! { "_id": id.get() });
        match timeout_at(deadline, found.into_future()).await {
            Err(_) => Err(Failure::TimedOut),
            Ok(Err(error)) => Err(failure(&error)),
            Ok(Ok(None)) => Ok(Answer::user_not_found()),
            Ok(Ok(Some(document))) => answer(id, &document),
        }
    }
}

fn failure(error: &Error) -> Failure {
    match error.kind.as_ref() {
        ErrorKind::Io(io) if io.kind() == std::io::ErrorKind::TimedOut => Failure::TimedOut,
        _ => Failure::Unavailable(error.to_string()),
    }
}

/// `_id` may be stored as int32, int64 or a whole double: MongoDB compares them as numbers, so the
/// id asked for is the id found.
fn answer(id: UserId, document: &RawDocument) -> Result<Answer, Failure> {
    let text = |field: &'static str| {
        document
            .get_str(field)
            .map_err(|_| Failure::Malformed { field })
    };
    Ok(Answer::user(&User {
        id,
        name: text("name")?,
        surname: text("surname")?,
        email: text("email")?,
    }))
}
