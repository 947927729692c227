//! The HTTP server: one thread a core, each with its own listener, connections and instances.

mod connection;
mod hint;
mod listen;
mod peer;
mod request;
mod socket;
pub mod tls;
pub mod well_known;

use std::sync::Arc;
use std::thread::JoinHandle;

use http::uri::Scheme;
use levelfield_app::App;
use tokio_rustls::TlsAcceptor;

pub use self::hint::Hint;
pub use self::listen::{Address, Bound, Listener, bind};
use crate::component::Loaded;
use crate::core::{Core, Shares};
use crate::drain::Drain;
use crate::error::Error;
use crate::limits::Limits;
use crate::metrics::{self, CoreCounters};
use crate::outbound::local;

/// What every core serves.
pub struct Service {
    pub app: Arc<App>,
    pub components: Vec<Arc<Loaded>>,
    /// Limits of the whole host.
    pub limits: Limits,
    pub drain: Arc<Drain>,
    /// How clients reach it: with `tls` over HTTPS, else over HTTP.
    pub scheme: Scheme,
    pub tls: Option<TlsAcceptor>,
    pub hint: Hint,
}

/// Starts a thread for each listener, which counts in its `counters` if there are some. They end when the drain is over.
pub fn start(
    service: Arc<Service>,
    listeners: Vec<Listener>,
    counters: &[Arc<CoreCounters>],
) -> Result<Vec<JoinHandle<()>>, Error> {
    let limits = share(&service.limits, listeners.len());
    let shares = Arc::new(Shares::new(&limits, listeners.len()));
    listeners
        .into_iter()
        .enumerate()
        .map(|(index, listener)| {
            let service = service.clone();
            let limits = limits.clone();
            let shares = shares.clone();
            let counters = counters.get(index).cloned();
            std::thread::Builder::new()
                .name(format!("core-{index}"))
                .spawn(move || {
                    if let Some(counters) = counters {
                        metrics::enter(counters);
                    }
                    run(service, listener, limits, &shares);
                })
                .map_err(|source| Error::Io {
                    what: "cannot start a thread".into(),
                    source,
                })
        })
        .collect()
}

/// The limits of one core: of what is not counted over all of them, its part.
pub fn share(limits: &Limits, cores: usize) -> Limits {
    Limits {
        outbound_connections: (limits.outbound_connections / cores).max(1),
        ..limits.clone()
    }
}

fn run(service: Arc<Service>, listener: Listener, limits: Limits, shares: &Shares) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => {
            tracing::error!(%error, "a core cannot start");
            return;
        }
    };
    let tasks = tokio::task::LocalSet::new();
    let core = Core::new(&service.components, limits, shares);
    local::enter(&core);
    tasks.block_on(
        &runtime,
        connection::accept(service, core.clone(), listener),
    );
    core.shut_down();
}
