//! `levelfield-host up`: from flags to a serving host, and to its end.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::num::NonZero;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use http::uri::{Authority, Scheme};
use levelfield_app::listing::Listing;
use levelfield_app::{App, Stream};
use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tracing::Level;

use crate::admin::Admin;
use crate::cli::{Format, Up};
use crate::code::Code;
use crate::component::{self, Guest, Loaded};
use crate::drain::Drain;
use crate::engine::{self, Wasi};
use crate::error::Error;
use crate::limits::Limits;
use crate::metrics::{CoreCounters, Scrape};
use crate::outbound::{Origin, Permission};
use crate::server::{self, Address, Bound, Hint, Listener, Service, tls};
use crate::stdio::Sink;
use crate::trace;

/// Serves until a signal says stop.
pub fn up(flags: &Up) -> Result<(), Error> {
    flags.refused.check()?;
    if flags.build {
        crate::build(&flags.app)?;
    }
    let app = app(flags)?;
    // The port first: compiling takes a while, and a taken port should be known at once.
    let Bound {
        address,
        listeners,
        file: _file,
    } = listen(flags)?;
    let admin = admin(flags)?;
    let (runtime, mut signals) = signals()?;
    let running = Running::start(app, flags, &address, listeners, admin.as_ref())?;
    running.print_routes(flags.format);
    runtime.block_on(async {
        signals.next().await;
        running.stop(flags, signals.next()).await;
    });
    trace::stop();
    Ok(())
}

/// Loads the app and tells what is odd about it.
pub fn app(flags: &Up) -> Result<Arc<App>, Error> {
    let app = Arc::new(levelfield_app::load(&flags.app.options())?);
    for warning in &app.warnings {
        crate::say(Level::WARN, &format!("warning: {warning}"));
    }
    for id in &flags.follow {
        if !app.components.iter().any(|component| component.id == *id) {
            return Err(Error::NoSuchComponent { id: id.clone() });
        }
    }
    Ok(app)
}

/// Binds the address, once for each core.
pub fn listen(flags: &Up) -> Result<Bound, Error> {
    let cores = flags
        .workers
        .or_else(|| std::thread::available_parallelism().ok().map(NonZero::get))
        .unwrap_or(1);
    server::bind(&flags.listen, cores, flags.find_free_port)
}

/// Starts the admin listener, if there is to be one.
pub fn admin(flags: &Up) -> Result<Option<Admin>, Error> {
    let Some(address) = flags.admin_listen else {
        return Ok(None);
    };
    let admin = Admin::start(address)?;
    crate::say(Level::INFO, &format!("Admin on http://{}", admin.address));
    Ok(Some(admin))
}

/// The runtime that waits for signals, and what it waits for.
pub fn signals() -> Result<(Runtime, Signals), Error> {
    let io = |source| Error::Io {
        what: "signals cannot be handled".into(),
        source,
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(io)?;
    let signals = runtime.block_on(async { Signals::new() }).map_err(io)?;
    Ok((runtime, signals))
}

/// An app that is being served.
pub struct Running {
    app: Arc<App>,
    /// Where it is served, as a person types it.
    url: String,
    drain: Arc<Drain>,
    threads: Vec<JoinHandle<()>>,
}

impl Running {
    /// Compiles the app and serves it, one core for each listener. With `admin` the cores count, and it tells.
    pub fn start(
        app: Arc<App>,
        flags: &Up,
        address: &Address,
        listeners: Vec<Listener>,
        admin: Option<&Admin>,
    ) -> Result<Self, Error> {
        trace::start(&app.name)?;
        let mut limits = flags.limits.limits();
        if let Some(bytes) = app.max_instance_memory {
            limits.instance_memory = limits
                .instance_memory
                .min(usize::try_from(bytes).unwrap_or(usize::MAX));
        }
        let tls = flags.tls.files().map(tls::acceptor).transpose()?;
        let scheme = if tls.is_some() {
            Scheme::HTTPS
        } else {
            Scheme::HTTP
        };
        let origin = origin(scheme.clone(), address)?;
        let components = load(&app, flags, &limits, listeners.len(), origin)?;
        let drain = Arc::new(Drain::default());
        let counters: Vec<_> = admin
            .iter()
            .flat_map(|_| &listeners)
            .map(|_| Arc::new(CoreCounters::new(components.len())))
            .collect();
        let scrape = scrape(&components, &counters, &limits);
        let service = Arc::new(Service {
            app: app.clone(),
            components,
            limits,
            drain: drain.clone(),
            tls,
            hint: Hint::for_stderr(),
            scheme: scheme.clone(),
        });
        let threads = server::start(service, listeners, &counters)?;
        if let Some(admin) = admin {
            admin.serve(scrape, drain.clone());
        }
        Ok(Running {
            app,
            url: match address {
                Address::Tcp(address) => format!("{scheme}://{address}"),
                Address::Unix(_) => address.to_string(),
            },
            drain,
            threads,
        })
    }

    /// Says on stdout where the app is served.
    pub fn print_routes(&self, format: Format) {
        print_routes(&self.app, &self.url, format);
    }

    /// Drains; `again` ends it early.
    pub async fn stop(self, flags: &Up, again: impl Future<Output = ()>) {
        let (delay, grace) = (flags.drain_delay, flags.drain_grace);
        let line = format!("stopping: requests in flight have {grace:?}");
        crate::say(Level::INFO, &line);
        self.drained(delay, grace, again).await;
    }

    /// Drains without a word.
    pub async fn drained(self, delay: Duration, grace: Duration, again: impl Future<Output = ()>) {
        let threads = self.threads;
        let cores_done = tokio::task::spawn_blocking(move || {
            for thread in threads {
                // A core that panicked has said so.
                let _ = thread.join();
            }
        });
        tokio::select! {
            _ = cores_done => {}
            () = async {
                self.drain.run(delay, grace, again).await;
                std::future::pending().await
            } => {}
        }
    }
}

/// What a component's request to `self` says of where it goes.
fn origin(scheme: Scheme, address: &Address) -> Result<Origin, Error> {
    let authority = match address {
        Address::Unix(_) => "localhost".to_owned(),
        Address::Tcp(address) => match address.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => {
                SocketAddr::from((Ipv4Addr::LOCALHOST, address.port())).to_string()
            }
            IpAddr::V6(ip) if ip.is_unspecified() => {
                SocketAddr::from((Ipv6Addr::LOCALHOST, address.port())).to_string()
            }
            _ => address.to_string(),
        },
    };
    let authority = Authority::try_from(authority).map_err(|error| Error::Listen {
        address: address.clone(),
        source: std::io::Error::other(error),
    })?;
    Ok(Origin { scheme, authority })
}

fn load(
    app: &Arc<App>,
    flags: &Up,
    limits: &Limits,
    cores: usize,
    origin: Origin,
) -> Result<Vec<Arc<Loaded>>, Error> {
    let engine_error = |error: wasmtime::Error| Error::Engine(format!("{error:#}"));
    if let Some(logs) = &app.logs {
        logs.prepare(flags.truncate_logs)?;
        let line = format!("Logging component stdio to {:?}", logs.path());
        crate::say(Level::INFO, &line);
    }
    let mut engines: Vec<(Wasi, wasmtime::Engine, wasmtime::component::Linker<_>)> = Vec::new();
    let mut components = Vec::new();
    for (index, component) in app.components.iter().enumerate() {
        let code = Code::read(&component.id, &component.wasm)?;
        let wasi = code.wasi;
        let position = match engines.iter().position(|(of, ..)| *of == wasi) {
            Some(position) => position,
            None => {
                let engine = engine::engine(wasi, (!flags.disable_pooling).then_some(limits))
                    .map_err(engine_error)?;
                let linker = component::linker(&engine, wasi).map_err(engine_error)?;
                engines.push((wasi, engine, linker));
                engines.len() - 1
            }
        };
        let (_, engine, linker) = &engines[position];
        let guest = Guest {
            app: app.clone(),
            index,
            id: component.id.as_str().into(),
            stdout: sink(app, component, flags, Stream::Stdout)?,
            stderr: sink(app, component, flags, Stream::Stderr)?,
        };
        let permission = Arc::new(Permission::new(
            app.clone(),
            index,
            server::share(limits, cores),
            origin.clone(),
        ));
        components.push(Arc::new(Loaded::new(
            engine, linker, guest, &code, permission, limits,
        )?));
    }
    Ok(components)
}

/// What a scrape reads of these components.
fn scrape(components: &[Arc<Loaded>], cores: &[Arc<CoreCounters>], limits: &Limits) -> Scrape {
    let mut engines: Vec<(&'static str, wasmtime::Engine)> = Vec::new();
    for component in components {
        let wasi = match component.wasi() {
            Wasi::P2 => "0.2",
            Wasi::P3 => "0.3",
        };
        if engines.iter().all(|(known, _)| *known != wasi) {
            engines.push((wasi, component.engine().clone()));
        }
    }
    Scrape {
        components: components.iter().map(|c| c.guest.id.clone()).collect(),
        cores: cores.to_vec(),
        engines,
        pool_size: limits.instances,
    }
}

/// Where one of a component's output streams goes.
fn sink(
    app: &App,
    component: &levelfield_app::Component,
    flags: &Up,
    stream: Stream,
) -> Result<Sink, Error> {
    let file = match &app.logs {
        Some(logs) => Some(Arc::new(logs.open(&component.id, stream)?)),
        None => None,
    };
    let followed = flags.follow.is_empty() || flags.follow.contains(&component.id);
    Ok(Sink {
        file,
        echo: !flags.quiet && followed,
    })
}

/// Says on stdout where the app is served.
fn print_routes(app: &App, url: &str, format: Format) {
    match format {
        Format::Text => print!("Serving {url}\n{}", Listing::new(app, url).text()),
        Format::Json => println!("{}", json(&Listing::new(app, url))),
    }
}

/// A listing is strings and booleans, which JSON always has room for.
pub fn json(listing: &Listing) -> String {
    serde_json::to_string_pretty(listing).unwrap_or_default()
}

/// What asks the host to stop.
pub struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    fn new() -> std::io::Result<Self> {
        Ok(Signals {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    pub async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}
