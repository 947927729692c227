//! The resolved app: what a host runs.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::outbound::AllowedHosts;
use crate::route::{Router, Target};
use crate::variables::VariableError;
use crate::{Error, manifest};

/// Where the app is and what the command line says of it.
#[derive(Debug, Default)]
pub struct LoadOptions {
    /// `--from`: a manifest, a directory with a `spin.toml`, or a bare `.wasm` or `.wat`. `None`: `spin.toml` here.
    pub from: Option<PathBuf>,
    /// `--env K=V`, added to every component's environment over the manifest's.
    pub environment: Vec<(String, String)>,
}

/// An app, checked and ready to run.
#[derive(Debug)]
pub struct App {
    pub name: String,
    pub version: Option<String>,
    pub description: Option<String>,
    /// The manifest, or the bare wasm file.
    pub path: PathBuf,
    pub components: Vec<Component>,
    pub router: Router,
    /// What is odd but no error, one line each, for the host to print.
    pub warnings: Vec<String>,
}

/// A component and everything it may see.
#[derive(Debug)]
pub struct Component {
    pub id: String,
    pub description: Option<String>,
    /// The wasm file: present, and its digest verified where the manifest gives one.
    pub wasm: PathBuf,
    /// The whole environment; nothing of the host's own is inherited.
    pub environment: Vec<(String, String)>,
    pub mounts: Vec<Mount>,
    /// Whether a trigger, private ones included, names it: only then others may call it by service chaining.
    pub has_trigger: bool,
    allowed_hosts: Arc<AllowedHosts>,
}

/// A directory of the host that the component sees.
#[derive(Clone, Debug)]
pub struct Mount {
    pub host: PathBuf,
    /// Absolute, `/` for the default mount.
    pub guest: String,
    pub writable: bool,
}

impl App {
    /// The index of the component that `host`, as in `<id>.spin.internal`, names, if it can be called so.
    pub fn chained(&self, host: &str) -> Option<usize> {
        let id = host.strip_suffix(".spin.internal")?;
        self.components
            .iter()
            .position(|component| component.id == id && component.has_trigger)
    }
}

impl Component {
    /// What the component may reach, to be asked once for each new instance: a templated list may have changed.
    pub fn allowed_hosts(&self) -> Result<Arc<AllowedHosts>, Error> {
        Ok(self.allowed_hosts.clone())
    }

    /// The value that the component's variable `name` has now.
    pub fn variable(&self, name: &str) -> Result<String, VariableError> {
        Err(VariableError::Undefined {
            component: self.id.clone(),
            name: name.to_owned(),
        })
    }
}

/// Loads the app and checks all of it.
pub fn load(options: &LoadOptions) -> Result<App, Error> {
    let from = options
        .from
        .clone()
        .unwrap_or_else(|| PathBuf::from("spin.toml"));
    let path = if from.is_dir() {
        from.join("spin.toml")
    } else {
        from
    };
    if path
        .extension()
        .is_some_and(|extension| extension == "wasm" || extension == "wat")
    {
        return bare(path, options);
    }
    let manifest = manifest::read(&path)?;
    resolve(manifest, path, options)
}

/// A bare component: it gets every path and may reach nothing.
fn bare(path: PathBuf, options: &LoadOptions) -> Result<App, Error> {
    let name = path
        .file_stem()
        .map(|stem| stem.to_string_lossy().into_owned())
        .unwrap_or_default();
    let component = Component {
        id: name.clone(),
        description: None,
        wasm: existing(&path, &path, &name)?,
        environment: options.environment.clone(),
        mounts: Vec::new(),
        has_trigger: true,
        allowed_hosts: Arc::default(),
    };
    let mut router = Router::default();
    router
        .add(
            "/...".into(),
            format!("{name}-http-trigger"),
            Target::Component(0),
        )
        .map_err(|message| Error::Manifest {
            path: path.clone(),
            message,
        })?;
    Ok(App {
        name,
        version: None,
        description: None,
        path,
        components: vec![component],
        router,
        warnings: Vec::new(),
    })
}

fn existing(wasm: &Path, manifest: &Path, component: &str) -> Result<PathBuf, Error> {
    if wasm.is_file() {
        return Ok(wasm.to_owned());
    }
    Err(Error::NoWasm {
        path: manifest.to_owned(),
        component: component.to_owned(),
        wasm: wasm.to_owned(),
    })
}

fn resolve(
    manifest: manifest::Manifest,
    path: PathBuf,
    options: &LoadOptions,
) -> Result<App, Error> {
    let refused = |who: &str, field: &str| Error::Unsupported {
        path: path.clone(),
        who: who.into(),
        field: field.into(),
        way_out: "remove it, or run the app under `spin up`".into(),
    };
    let invalid = |message: String| Error::Manifest {
        path: path.clone(),
        message,
    };
    if !manifest.variables.is_empty() {
        return Err(refused("the app", "variables"));
    }
    if !manifest.application.trigger.is_empty() {
        return Err(refused("the app", "application.trigger"));
    }
    let directory = path.parent().unwrap_or(Path::new(""));

    let mut components = Vec::new();
    for (id, written) in &manifest.component {
        let who = format!("component `{id}`");
        for (field, present) in [
            ("variables", !written.variables.is_empty()),
            ("files", !written.files.is_empty()),
            ("exclude_files", !written.exclude_files.is_empty()),
            ("allowed_http_hosts", written.allowed_http_hosts.is_some()),
            ("key_value_stores", written.key_value_stores.is_some()),
            ("sqlite_databases", written.sqlite_databases.is_some()),
            ("ai_models", written.ai_models.is_some()),
            ("dependencies", written.dependencies.is_some()),
            ("profile", written.profile.is_some()),
        ] {
            if present {
                return Err(refused(&who, field));
            }
        }
        let toml::Value::String(source) = &written.source else {
            return Err(refused(&who, "source.url"));
        };
        let mut environment: Vec<(String, String)> = written
            .environment
            .iter()
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        for (name, value) in &options.environment {
            environment.retain(|(present, _)| present != name);
            environment.push((name.clone(), value.clone()));
        }
        components.push(Component {
            id: id.to_string(),
            description: written.description.clone(),
            wasm: existing(&directory.join(source), &path, id.as_str())?,
            environment,
            mounts: Vec::new(),
            has_trigger: false,
            allowed_hosts: Arc::new(
                AllowedHosts::parse(&written.allowed_outbound_hosts).map_err(
                    |(entry, message)| Error::AllowedHost {
                        path: path.clone(),
                        component: id.to_string(),
                        entry,
                        message,
                    },
                )?,
            ),
        });
    }

    let mut router = Router::default();
    for (kind, triggers) in &manifest.trigger {
        if kind != "http" {
            return Err(refused("the app", &format!("trigger.{kind}")));
        }
        let triggers: Vec<manifest::HttpTrigger> = triggers
            .clone()
            .try_into()
            .map_err(|error: toml::de::Error| invalid(error.message().into()))?;
        for trigger in triggers {
            if trigger.executor.is_some() || trigger.static_response.is_some() {
                return Err(refused("a trigger", "executor, static_response"));
            }
            let (Some(route), Some(Some(id))) = (
                trigger.route.as_str(),
                trigger.component.as_ref().map(toml::Value::as_str),
            ) else {
                return Err(refused("a trigger", "private routes and inline components"));
            };
            if route != "/..." {
                return Err(refused("a trigger", "a route other than /..."));
            }
            let index = components
                .iter()
                .position(|component| component.id == id)
                .ok_or_else(|| {
                    invalid(format!(
                        "route `{route}` names component `{id}`, which does not exist"
                    ))
                })?;
            components[index].has_trigger = true;
            let trigger = trigger.id.unwrap_or_else(|| format!("{id}-http-trigger"));
            router
                .add(route.to_owned(), trigger, Target::Component(index))
                .map_err(invalid)?;
        }
    }

    let application = manifest.application;
    Ok(App {
        name: application.name,
        version: application.version,
        description: application.description,
        path,
        components,
        router,
        warnings: Vec::new(),
    })
}
