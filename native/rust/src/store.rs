//! The users in MongoDB, through one pooled client for the life of the process.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Context;
use contract::{Answer, User, UserId};
use mongodb::bson::{RawDocument, RawDocumentBuf, doc};
use mongodb::error::{Error, ErrorKind};
use mongodb::event::EventHandler;
use mongodb::event::sdam::SdamEvent;
use mongodb::options::ClientOptions;
use mongodb::{Client, Collection};
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep_until, timeout, timeout_at};

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
    /// Whether the driver's last look at the server was refused. The opposite is not "up": a server
    /// may accept connections and stay silent.
    refused: Arc<AtomicBool>,
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
        let refused = Arc::new(AtomicBool::new(false));
        options.sdam_event_handler = Some(watch(Arc::clone(&refused)));
        let client = Client::with_options(options)
            .context("CONNECTION_STRING is not one that MongoDB's driver accepts")?;
        Ok(Self {
            collection: client.database("mongo").collection("users"),
            room: Arc::new(Semaphore::new(room as usize)),
            refused,
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
            Ok(Err(error)) => Err(self.failure(&error, deadline).await),
            Ok(Ok(None)) => Ok(Answer::user_not_found()),
            Ok(Ok(Some(document))) => answer(id, &document),
        }
    }

    /// A server that was reached and stays silent is not selected either, so that the driver's
    /// error is the same; the contract gives it the whole deadline.
    async fn failure(&self, error: &Error, deadline: Instant) -> Failure {
        let unselected = matches!(error.kind.as_ref(), ErrorKind::ServerSelection { .. });
        if unselected && !self.refused.load(Ordering::Relaxed) {
            sleep_until(deadline).await;
            Failure::TimedOut
        } else if is_timeout(error) {
            Failure::TimedOut
        } else {
            Failure::Unavailable(error.to_string())
        }
    }
}

/// Notes how the driver's regular looks at the server end.
fn watch(refused: Arc<AtomicBool>) -> EventHandler<SdamEvent> {
    EventHandler::callback(move |event| match event {
        SdamEvent::ServerHeartbeatSucceeded(_) => refused.store(false, Ordering::Relaxed),
        SdamEvent::ServerHeartbeatFailed(event) => {
            refused.store(!is_timeout(&event.failure), Ordering::Relaxed);
        }
        _ => {}
    })
}

fn is_timeout(error: &Error) -> bool {
    matches!(error.kind.as_ref(), ErrorKind::Io(io) if io.kind() == io::ErrorKind::TimedOut)
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
