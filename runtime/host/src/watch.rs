//! `levelfield-host watch`: serves an app and, when its files change, builds it and serves the new one.
//!
//! Both share one listening socket. The old app drains only once the new one accepts, so that no request is refused
//! or dropped; an app that cannot be built or loaded leaves the old one serving.

use std::time::Duration;

use levelfield_app::watching::{Change, Snapshot, Watched};
use tracing::Level;

use crate::admin::Admin;
use crate::cli::Watch;
use crate::error::Error;
use crate::server::{Bound, Listener};
use crate::trace;
use crate::up::{self, Running};

/// How often the files are looked at.
const INTERVAL: Duration = Duration::from_millis(100);

/// Serves until a signal says stop.
pub fn watch(flags: &Watch) -> Result<(), Error> {
    let options = flags.up.app.options();
    let mut watched = levelfield_app::watched(&options)?;
    flags.up.refused.check()?;
    let bound = up::listen(&flags.up)?;
    let admin = up::admin(&flags.up)?;
    let (runtime, mut signals) = up::signals()?;
    runtime.block_on(async {
        let mut running: Option<Running> = None;
        let mut change = Change::Build;
        loop {
            // Of a manifest that is gone for a moment, as editors do, what it said last is watched.
            watched = levelfield_app::watched(&options).unwrap_or(watched);
            let before = watched.look();
            match start(flags, change, &bound, admin.as_ref()) {
                Ok(new) => {
                    new.print_routes(flags.up.format);
                    if let Some(old) = running.replace(new) {
                        let grace = flags.up.drain_grace;
                        tokio::spawn(old.drained(Duration::ZERO, grace, std::future::pending()));
                    }
                }
                Err(error) => {
                    crate::say(
                        Level::ERROR,
                        &format!("error: {error}; waiting for a change"),
                    );
                }
            }
            let served = before.built(watched.look());
            tokio::select! {
                () = signals.next() => break,
                next = changed(&watched, &served, flags.debounce) => change = next,
            }
        }
        if let Some(running) = running {
            running.stop(&flags.up, signals.next()).await;
        }
    });
    trace::stop();
    Ok(())
}

/// Builds if that is asked for, loads, and serves on the shared sockets.
fn start(
    flags: &Watch,
    change: Change,
    bound: &Bound,
    admin: Option<&Admin>,
) -> Result<Running, Error> {
    if flags.clear {
        // The terminal's codes for: clear, and go to the corner.
        eprint!("\x1b[2J\x1b[H");
    }
    if change == Change::Build && !flags.skip_build {
        crate::build(&flags.up.app)?;
    }
    let app = up::app(&flags.up)?;
    let listeners = bound.listeners.iter().map(Listener::try_clone);
    let listeners = listeners
        .collect::<Result<_, _>>()
        .map_err(|source| Error::Listen {
            address: bound.address.clone(),
            source,
        })?;
    Running::start(app, &flags.up, &bound.address, listeners, admin)
}

/// Waits for a change after which nothing changes for as long as `debounce`.
async fn changed(watched: &Watched, served: &Snapshot, debounce: Duration) -> Change {
    let mut last = watched.look();
    loop {
        tokio::time::sleep(if served.change(&last).is_some() {
            debounce
        } else {
            INTERVAL
        })
        .await;
        let now = watched.look();
        if let Some(change) = served.change(&now)
            && now == last
        {
            return change;
        }
        last = now;
    }
}
