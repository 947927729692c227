//! Kept connections of one core, by destination. A connection is lent for one request and comes back when its response
//! was read.

use std::cell::RefCell;
use std::collections::HashMap;
use std::time::{Duration, Instant};

use hyper::client::conn::http1::SendRequest;

use super::connect::connect;
use super::{Permission, SendError};
use crate::message::Body;
use crate::metrics::{self, Held};

/// How long an unused connection is kept: less than most servers keep their end.
const KEEP: Duration = Duration::from_secs(30);

/// How often a request that finds every connection lent looks again: a connection is free once its response was read, which
/// nobody tells.
const AGAIN: Duration = Duration::from_millis(2);

/// Where a connection goes. The name, not its address: two names may be two virtual hosts with two certificates.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    pub tls: bool,
    pub host: String,
    pub port: u16,
}

/// The connections to one destination.
#[derive(Default)]
struct Destination {
    /// Open connections, lent ones included.
    open: usize,
    kept: Vec<(SendRequest<Body>, Instant)>,
}

thread_local! {
    static POOL: RefCell<HashMap<Key, Destination>> = RefCell::default();
}

/// A connection lent for one request.
pub struct Lease {
    pub connection: SendRequest<Body>,
    /// It has carried a request before.
    pub reused: bool,
    key: Key,
    lent: Held,
}

impl Lease {
    /// Keeps the connection for the next request; it is lent again only once the response has been read. What is given
    /// back is to be dropped then.
    pub fn put_back(self) -> Held {
        POOL.with_borrow_mut(|pool| {
            if let Some(destination) = pool.get_mut(&self.key) {
                destination.kept.push((self.connection, Instant::now()));
            }
        });
        self.lent
    }
}

/// A kept connection to `key`, or a new one. At the limit it waits for one that is lent, as long as a connection may take.
pub async fn checkout(
    key: &Key,
    permission: &Permission,
    timeout: Duration,
) -> Result<Lease, SendError> {
    let lent = Held::new(|core| &core.outbound_lent);
    let until = Instant::now() + timeout;
    let place = loop {
        if let Some(connection) = kept(key) {
            return Ok(Lease {
                connection,
                reused: true,
                key: key.clone(),
                lent,
            });
        }
        match Place::take(key, permission.limits.outbound_connections) {
            Some(place) => break place,
            None if Instant::now() < until => tokio::time::sleep(AGAIN).await,
            None => return Err(SendError::LimitReached),
        }
    };
    // Boxed, as the rare case: a future with room for a TLS handshake is copied with every request otherwise.
    let connection =
        tokio::time::timeout_at(until.into(), Box::pin(connect(key, permission, place)))
            .await
            .map_err(|_| SendError::ConnectTimeout)??;
    metrics::here(|core| core.outbound_created.one());
    Ok(Lease {
        connection,
        reused: false,
        key: key.clone(),
        lent,
    })
}

fn kept(key: &Key) -> Option<SendRequest<Body>> {
    POOL.with_borrow_mut(|pool| {
        let kept = &mut pool.get_mut(key)?.kept;
        let now = Instant::now();
        kept.retain(|(connection, since)| !connection.is_closed() && now - *since < KEEP);
        // The last that is free: the others may still be read from.
        let index = kept
            .iter()
            .rposition(|(connection, _)| connection.is_ready())?;
        Some(kept.swap_remove(index).0)
    })
}

/// One of a destination's places for connections, given back when the connection ends.
pub struct Place(Key, #[expect(dead_code, reason = "its drop counts")] Held);

impl Place {
    /// `None` at the limit.
    fn take(key: &Key, limit: usize) -> Option<Self> {
        POOL.with_borrow_mut(|pool| {
            let destination = pool.entry(key.clone()).or_default();
            if destination.open >= limit {
                return None;
            }
            destination.open += 1;
            Some(Place(key.clone(), Held::new(|core| &core.outbound_open)))
        })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        POOL.with_borrow_mut(|pool| {
            if let Some(destination) = pool.get_mut(&self.0) {
                destination.open -= 1;
                if destination.open == 0 {
                    pool.remove(&self.0);
                }
            }
        });
    }
}
