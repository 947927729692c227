//! The life of the process: from arguments to parts, serving, reloads, and the end in order.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, anyhow, bail};
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::sleep;
use tokio_rustls::TlsAcceptor;

use crate::args::{Args, StoreKind};
use crate::auth::Tokens;
use crate::config;
use crate::health::Health;
use crate::listener::{Address, Listener};
use crate::metrics::Metrics;
use crate::server::Server;
use crate::service::{Service, Settings};
use crate::store::{Embedded, Mongodb, Store};
use crate::tls;

const DEFAULT_CONNECTION_STRING: &str = "mongodb://127.0.0.1:27017/?directConnection=true";

/// The collection that documents go to when none is named.
const DEFAULT_COLLECTION: &str = "users";

/// Serves until SIGTERM or SIGINT.
pub async fn run(args: Args) -> Result<()> {
    let metrics = Arc::<Metrics>::default();
    let (store, about_store) = open_store(&args, &metrics).await?;
    let store = Arc::new(store);
    let settings = read_settings(&args, &store, &metrics)?;
    if !args.listen.is_local() && !settings.tokens.are_needed() && !args.insecure {
        bail!(
            "{} can be reached from other machines and no token is set: \
             set SIDECAR_TOKEN, or give --token-file, or say --insecure",
            args.listen
        );
    }
    // Before anything is said, so that no signal that follows the words is lost.
    let mut hangup = signal(SignalKind::hangup())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let listener = Listener::bind(&args.listen).await.with_context(|| {
        format!(
            "cannot listen on {0} (give another address with --listen)",
            args.listen
        )
    })?;

    let scheme = if args.tls_cert.is_some() {
        "https"
    } else {
        "http"
    };
    match listener.address()? {
        Address::Tcp(address) => {
            println!("levelfield-sidecar on {scheme}://{address}, {about_store}")
        }
        unix @ Address::Unix(_) => {
            println!("levelfield-sidecar on {unix} ({scheme}), {about_store}")
        }
    }

    let health = Arc::<Health>::default();
    let service = Arc::new(Service::new(
        settings,
        Arc::clone(&store),
        Arc::clone(&health),
        Arc::clone(&metrics),
        args.deadline,
        args.max_in_flight,
    ));
    let watching = tokio::spawn({
        let store = Arc::clone(&store);
        async move { health.watch(&store).await }
    });
    let server = Server {
        service: Arc::clone(&service),
        metrics: Arc::clone(&metrics),
        max_connections: args.max_connections,
    };
    let stop = async {
        loop {
            tokio::select! {
                _ = hangup.recv() => reload(&args, &service, &store, &metrics),
                _ = terminate.recv() => break,
                _ = interrupt.recv() => break,
            }
        }
        tracing::info!("shutting down");
        service.drain();
        sleep(args.drain_delay).await;
    };
    server.serve(listener, stop, args.grace).await;
    watching.abort();
    // Last, when nobody reads any more.
    store.close().await;
    Ok(())
}

/// Opens the store, and says in words for a person which one it is.
async fn open_store(args: &Args, metrics: &Arc<Metrics>) -> Result<(Store, String)> {
    let connection_string = std::env::var("CONNECTION_STRING")
        .ok()
        .filter(|it| !it.is_empty());
    let kind = args.store.unwrap_or(match connection_string {
        Some(_) => StoreKind::Mongodb,
        None => StoreKind::Embedded,
    });
    if kind != StoreKind::Embedded && !args.seed.is_empty() {
        bail!("--seed fills the embedded store: add --store embedded, or leave --seed out");
    }
    match kind {
        StoreKind::Mongodb => {
            let given = connection_string
                .as_deref()
                .unwrap_or(DEFAULT_CONNECTION_STRING);
            let mongodb = Mongodb::new(given, args.deadline, metrics).await?;
            let about = format!("reading from MongoDB at {}", mongodb.hosts());
            Ok((Store::Mongodb(Box::new(mongodb)), about))
        }
        StoreKind::Embedded => {
            let (embedded, source) = fill(&args.seed)?;
            let about = format!(
                "serving {} documents from memory ({source}); to read from MongoDB instead, \
                 start it with CONNECTION_STRING=mongodb://HOST:27017",
                embedded.count()
            );
            Ok((Store::Embedded(embedded), about))
        }
        StoreKind::Null => Ok((
            Store::Null,
            "answering with made-up documents, for measurement only".to_owned(),
        )),
    }
}

fn fill(seeds: &[String]) -> Result<(Embedded, String)> {
    let mut embedded = Embedded::default();
    if seeds.is_empty() {
        embedded
            .add(DEFAULT_COLLECTION, contract::SEED)
            .map_err(|error| anyhow!("the built-in seed, {error}"))?;
        return Ok((embedded, "the built-in seed".to_owned()));
    }
    for seed in seeds {
        let (collection, file) = seed.split_once('=').unwrap_or((DEFAULT_COLLECTION, seed));
        embedded
            .load(collection, Path::new(file))
            .context("give a good one with --seed")?;
    }
    Ok((embedded, seeds.join(", ")))
}

fn read_settings(args: &Args, store: &Store, metrics: &Metrics) -> Result<Settings> {
    let (name, text) = match &args.config {
        Some(file) => {
            let name = file.display().to_string();
            let text = std::fs::read_to_string(file)
                .map_err(|error| anyhow!("config {name} cannot be read: {error}"))?;
            (name, text)
        }
        None => ("the built-in config".to_owned(), config::DEFAULT.to_owned()),
    };
    let router = config::read(&text, metrics).map_err(|error| anyhow!("config {name}: {error}"))?;
    for query in router.queries() {
        store
            .check(query)
            .map_err(|error| anyhow!("config {name}: query {:?}: {error}", query.name))?;
    }
    Ok(Settings {
        router,
        tokens: read_tokens(args)?,
        tls: read_certificates(args)?,
    })
}

fn read_certificates(args: &Args) -> Result<Option<TlsAcceptor>> {
    let (Some(certificate), Some(key)) = (&args.tls_cert, &args.tls_key) else {
        return Ok(None);
    };
    tls::acceptor(certificate, key, args.tls_client_ca.as_deref())
        .map(Some)
        .map_err(|error| anyhow!("TLS: {error}"))
}

fn read_tokens(args: &Args) -> Result<Tokens> {
    if let Some(file) = &args.token_file {
        let name = file.display();
        let text = std::fs::read_to_string(file)
            .map_err(|error| anyhow!("--token-file {name} cannot be read: {error}"))?;
        return Tokens::read(&text).map_err(|error| anyhow!("--token-file {name} {error}"));
    }
    match std::env::var("SIDECAR_TOKEN") {
        Ok(text) if !text.is_empty() => {
            Tokens::read(&text).map_err(|error| anyhow!("SIDECAR_TOKEN {error}"))
        }
        _ => Ok(Tokens::default()),
    }
}

/// Settings that are wrong leave those that are in force as they are.
fn reload(args: &Args, service: &Service, store: &Store, metrics: &Metrics) {
    let settings = read_settings(args, store, metrics).and_then(|settings| {
        if args.listen.is_local() || args.insecure || settings.tokens.are_needed() {
            return Ok(settings);
        }
        bail!("no token is set any more")
    });
    match settings {
        Ok(settings) => {
            service.replace(settings);
            tracing::info!("read the configuration, tokens and certificates again");
        }
        Err(error) => tracing::error!("the old configuration stays: {error:#}"),
    }
}
