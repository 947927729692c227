//! MongoDB through its official driver: one client for the process's life, a bound on who waits for
//! it, and an end to every wait.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, RwLock};
use std::time::Duration;

use bson::{RawDocumentBuf, doc};
use futures::StreamExt;
use mongodb::error::{Error, ErrorKind};
use mongodb::event::EventHandler;
use mongodb::event::cmap::CmapEvent;
use mongodb::options::{ClientOptions, ServerMonitoringMode};
use mongodb::{Client, Collection};
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout_at};

use super::{Failure, Rows};
use crate::metrics::Metrics;
use crate::param::Value;
use crate::query::{Query, Returns};

/// What the driver itself uses when the connection string does not say.
const DEFAULT_POOL_SIZE: u32 = 10;

const HEARTBEAT: Duration = Duration::from_secs(1);

/// What MongoDB says when `maxTimeMS` has passed, or it gave up on another server (its own
/// error_codes.yml): MaxTimeMSExpired, NetworkTimeout, NetworkInterfaceExceededTimeLimit,
/// ExceededTimeLimit.
const TIME_IS_UP: [i32; 4] = [50, 89, 202, 262];

tokio::task_local! {
    /// How many connections the read at hand has been given: 0 before it reached a server, more
    /// than 1 when the driver tried again.
    static ATTEMPTS: Cell<u32>;
}

pub struct Mongodb {
    /// One for the process's life, unless [`Mongodb::reconnect`] has to give it up.
    client: RwLock<Client>,
    options: ClientOptions,
    hosts: String,
    /// One permit for each request that may be at the server.
    slots: Semaphore,
    pool_size: u32,
    /// Whether the server answered once and has not been found gone since. One that then says nothing
    /// is silent; without it, it may as well not be there.
    reached: AtomicBool,
    /// How long a request may take to reach a server, waiting for a slot included.
    reach: Duration,
    metrics: Arc<Metrics>,
}

/// A connection string that is of no use. The message holds no secret.
#[derive(Debug, thiserror::Error)]
#[error("CONNECTION_STRING is of no use: {0}; it looks like mongodb://HOST:27017")]
pub struct ConnectError(String);

impl Mongodb {
    /// Makes the client. It connects in its own time.
    pub async fn new(
        connection_string: &str,
        deadline: Duration,
        metrics: &Arc<Metrics>,
    ) -> Result<Self, ConnectError> {
        let refused = |error: Error| {
            ConnectError(without_secrets(&error.kind.to_string(), connection_string))
        };
        let mut options = ClientOptions::parse(connection_string)
            .await
            .map_err(refused)?;
        // Past this share of the deadline nothing was reached, and the answer is that; it leaves
        // the rest of it to a server that was reached late. Of 2 s it is 1.2 s.
        let reach = deadline * 3 / 5;
        let at_most = |given: Option<Duration>| Some(given.map_or(reach, |given| given.min(reach)));
        options.server_selection_timeout = at_most(options.server_selection_timeout);
        options.connect_timeout = at_most(options.connect_timeout);
        // Unless told otherwise the driver looks at a server every 10 s, and while it waits for the
        // server to speak first it cannot look sooner. Until it has looked it neither notices that a
        // server has fallen silent, nor uses one again whose error may have passed.
        options.heartbeat_freq.get_or_insert(HEARTBEAT);
        options
            .server_monitoring_mode
            .get_or_insert(ServerMonitoringMode::Poll);
        let pool_size = options
            .max_pool_size
            .filter(|size| *size > 0)
            .unwrap_or(DEFAULT_POOL_SIZE);
        // One connection more, so that the background check never waits behind requests.
        options.max_pool_size = Some(pool_size.saturating_add(1));
        options
            .app_name
            .get_or_insert_with(|| "levelfield-sidecar".to_owned());
        options.cmap_event_handler = Some(pool_events(Arc::clone(metrics)));
        let hosts: Vec<_> = options.hosts.iter().map(ToString::to_string).collect();
        Ok(Self {
            client: RwLock::new(Client::with_options(options.clone()).map_err(refused)?),
            options,
            hosts: hosts.join(","),
            slots: Semaphore::new(pool_size as usize),
            pool_size,
            reached: AtomicBool::new(false),
            reach,
            metrics: Arc::clone(metrics),
        })
    }

    /// The servers that the connection string names.
    pub fn hosts(&self) -> &str {
        &self.hosts
    }

    pub fn pool_size(&self) -> u32 {
        self.pool_size
    }

    fn client(&self) -> Client {
        self.client.read().expect("no holder panics").clone()
    }

    pub async fn close(&self) {
        self.client().shutdown().await;
    }

    /// Begins anew with a client of its own connections. The driver puts no bound on a new
    /// connection's handshake; when a network loses two of those and nothing else, its pool opens no
    /// connection ever again.
    pub fn reconnect(&self) {
        match Client::with_options(self.options.clone()) {
            Ok(client) => {
                tracing::warn!("giving up on the store's connections and opening new ones");
                let old =
                    std::mem::replace(&mut *self.client.write().expect("no holder panics"), client);
                tokio::spawn(async move { old.shutdown().immediate(true).await });
            }
            // The same options made a client when the process began.
            Err(error) => tracing::error!("cannot make a client: {}", error.kind),
        }
    }

    pub async fn ping(&self) -> Result<(), Failure> {
        let client = self.client();
        let admin = client.database("admin");
        let ping = admin.run_command(doc! { "ping": 1 });
        // A check asks those whom reads ask, which need not be the primary.
        let ping = match client.selection_criteria() {
            Some(criteria) => ping.selection_criteria(criteria.clone()),
            None => ping,
        };
        let result = ping.await.map(drop).map_err(|error| self.failure(&error));
        match result {
            Ok(()) => self.reached.store(true, Relaxed),
            Err(Failure::Unavailable(_)) => self.reached.store(false, Relaxed),
            Err(_) => {}
        }
        result
    }

    pub async fn find(
        &self,
        query: &Query,
        values: &[Value],
        rows: &mut Rows<'_>,
        deadline: Instant,
    ) -> Result<(), Failure> {
        let now = Instant::now();
        let reach = deadline.min(now + self.reach);
        let _slot = self.slot(reach).await?;
        let read = async {
            let mut read = std::pin::pin!(self.read(query, values, rows, deadline));
            let result = match timeout_at(reach, &mut read).await {
                Ok(result) => result,
                // The server was there a second ago, and there is room: it does not answer.
                Err(_) if ATTEMPTS.with(Cell::get) == 0 && self.reached.load(Relaxed) => {
                    Err(Failure::TimedOut)
                }
                Err(_) if ATTEMPTS.with(Cell::get) == 0 => Err(Failure::Unavailable(
                    "no connection to a server in time".to_owned(),
                )),
                Err(_) => match timeout_at(deadline, read).await {
                    Ok(result) => result,
                    Err(_) => Err(Failure::TimedOut),
                },
            };
            let retries = ATTEMPTS.with(Cell::get).saturating_sub(1);
            if retries > 0 {
                self.metrics.retries.fetch_add(retries.into(), Relaxed);
            }
            result
        };
        ATTEMPTS.scope(Cell::new(0), read).await
    }

    fn failure(&self, error: &Error) -> Failure {
        let text = error.kind.to_string();
        let is_silence = match &*error.kind {
            ErrorKind::Command(command) => TIME_IS_UP.contains(&command.code),
            // The driver names the first cause in the text alone.
            ErrorKind::Io(_)
            | ErrorKind::ServerSelection { .. }
            | ErrorKind::ConnectionPoolCleared { .. } => {
                self.reached.load(Relaxed) && text.contains("timed out")
            }
            _ => false,
        };
        if is_silence {
            Failure::TimedOut
        } else {
            Failure::Unavailable(text)
        }
    }

    async fn slot(&self, reach: Instant) -> Result<tokio::sync::SemaphorePermit<'_>, Failure> {
        if let Ok(slot) = self.slots.try_acquire() {
            return Ok(slot);
        }
        let waiters = &self.metrics.pool_waiters;
        waiters.fetch_add(1, Relaxed);
        let slot = timeout_at(reach, self.slots.acquire()).await;
        waiters.fetch_sub(1, Relaxed);
        match slot {
            Ok(Ok(slot)) => Ok(slot),
            _ => Err(Failure::Unavailable(
                "no free connection in time".to_owned(),
            )),
        }
    }

    async fn read(
        &self,
        query: &Query,
        values: &[Value],
        rows: &mut Rows<'_>,
        deadline: Instant,
    ) -> Result<(), Failure> {
        let limit = query.limit(values);
        let collection: Collection<RawDocumentBuf> = self
            .client()
            .database(&query.database)
            .collection(&query.collection);
        let mut find = collection.find(query.filter.bind(values));
        // The server gives up when nobody waits any more. 0 would mean no limit.
        let left = deadline.saturating_duration_since(Instant::now());
        find = find.max_time(left.max(Duration::from_millis(1)));
        find = match query.returns {
            // Negative: one batch, and no cursor to close.
            Returns::One => find.limit(-1),
            // One more than the limit, or the server leaves an exhausted cursor open.
            Returns::Many(_) => find.limit(limit.into()).batch_size(limit + 1),
        };
        if let Some(projection) = &query.projection {
            find = find.projection(projection.clone());
        }
        if let Some(sort) = &query.sort {
            find = find.sort(sort.clone());
        }
        let mut batches = find.batch().await.map_err(|error| self.failure(&error))?;
        let mut left = limit;
        while left > 0 {
            let Some(batch) = batches.next().await else {
                break;
            };
            let batch = batch.map_err(|error| self.failure(&error))?;
            for value in batch.doc_slices().map_err(|error| self.failure(&error))? {
                let document = value.ok().and_then(|value| value.as_document());
                let unreadable = || Failure::Unavailable("the server's reply is not BSON".into());
                rows.push(document.ok_or_else(unreadable)?)?;
                left -= 1;
                if left == 0 {
                    break;
                }
            }
        }
        Ok(())
    }
}

fn pool_events(metrics: Arc<Metrics>) -> EventHandler<CmapEvent> {
    EventHandler::callback(move |event| match event {
        CmapEvent::ConnectionCreated(_) => {
            metrics.pool_connections.fetch_add(1, Relaxed);
        }
        CmapEvent::ConnectionClosed(_) => {
            metrics.pool_connections.fetch_sub(1, Relaxed);
        }
        CmapEvent::ConnectionCheckedOut(_) => {
            // Called in the task that asked. The check's pings count no attempts.
            let _ = ATTEMPTS.try_with(|attempts| attempts.set(attempts.get() + 1));
        }
        _ => {}
    })
}

/// What the driver says of a connection string may quote it, and with it a password.
fn without_secrets(message: &str, connection_string: &str) -> String {
    let rest = connection_string
        .split_once("://")
        .map_or(connection_string, |(_, rest)| rest);
    let Some((credentials, _)) = rest.rsplit_once('@') else {
        return message.to_owned();
    };
    let password = credentials
        .split_once(':')
        .map_or(credentials, |(_, password)| password);
    [connection_string, credentials, password]
        .into_iter()
        .filter(|secret| !secret.is_empty())
        .fold(message.to_owned(), |text, secret| {
            text.replace(secret, "***")
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_password_is_quoted() {
        for string in [
            "mongodb://me:s3cret@h/",
            "mongodb://me:s3/cret@h",
            "me:s3cret@h",
        ] {
            let said = without_secrets(&format!("bad {string} with {string}"), string);
            assert!(!said.contains("s3"), "{said}");
        }
    }
}
