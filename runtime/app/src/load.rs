//! Loading: from a path and the command line's settings to an [`App`], checked to the end.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;

use crate::app::{App, Component};
use crate::arguments::{self, EnvironmentArgument, VariableArgument};
use crate::component::{Shared, environment};
use crate::error::{Error, one_line, quoted};
use crate::locate::{self, Origin};
use crate::logs::LogDirectory;
use crate::manifest::{self, Manifest};
use crate::normalize;
use crate::outbound::AllowedHosts;
use crate::route::{Route, Router, Target};
use crate::runtime_config::{self, RuntimeConfig};
use crate::source::{self, Fetch};
use crate::triggers::Triggers;
use crate::variables::{ComponentVariables, Provider, Variables};

/// Where the app is and what the command line says of it.
#[derive(Default)]
pub struct LoadOptions<'a> {
    /// `--from`: a manifest, a directory with a `spin.toml`, or a bare `.wasm`, `.wat` or `.cwasm`. `None`: `spin.toml` here
    /// or above, up to the root of the git work tree.
    pub from: Option<PathBuf>,
    /// `--env`, added to every component's environment over the manifest's.
    pub environment: Vec<EnvironmentArgument>,
    /// `--variable`
    pub variables: Vec<VariableArgument>,
    /// `--runtime-config-file`
    pub runtime_config: Option<PathBuf>,
    /// `--state-dir`; empty for none.
    pub state_dir: Option<String>,
    /// `--log-dir`; empty for none.
    pub log_dir: Option<String>,
    /// `--profile`
    pub profile: Option<String>,
    /// `--component-id`: run only these; all when empty.
    pub components: Vec<String>,
    pub direct_mounts: bool,
    pub allow_transient_write: bool,
    /// Where the copies of mounted files go; a temporary directory of the app's own when `None`.
    pub temp: Option<PathBuf>,
    /// Where downloads are kept.
    pub cache_dir: Option<PathBuf>,
    /// Gets what is not in the cache.
    pub fetch: Option<&'a dyn Fetch>,
}

/// Loads the app and checks all of it.
pub fn load(options: &LoadOptions<'_>) -> Result<App, Error> {
    let config = match &options.runtime_config {
        Some(path) => runtime_config::read(path)?,
        None => RuntimeConfig::default(),
    };
    match locate::origin(options.from.as_deref())? {
        Origin::Wasm(path) => bare(path, options, config),
        Origin::Manifest(path) => Loader::new(&path, options)?.load(manifest::read(&path)?, config),
    }
}

/// Checks that the app has every component that was chosen.
pub(crate) fn check_chosen(chosen: &[String], known: &[&str]) -> Result<(), Error> {
    let unknown = chosen
        .iter()
        .map(String::as_str)
        .filter(|id| !known.contains(id));
    let unknown: Vec<&str> = unknown.collect();
    if unknown.is_empty() {
        return Ok(());
    }
    let known = match known {
        [] => "none".to_owned(),
        known => quoted(known.iter().copied()),
    };
    Err(Error::UnknownComponent {
        unknown: quoted(unknown),
        known,
    })
}

/// A bare component: it gets every path and may reach nothing.
fn bare(path: PathBuf, options: &LoadOptions<'_>, config: RuntimeConfig) -> Result<App, Error> {
    let id = locate::bare_id(&path);
    let component = Component {
        id: id.clone(),
        description: None,
        wasm: source::existing(path.clone(), &path, &id)?,
        environment: environment(BTreeMap::new(), &options.environment),
        mounts: Vec::new(),
        has_trigger: true,
        build: None,
        // Without templates these cannot fail; the error only has nowhere else to go.
        variables: ComponentVariables::new(&id, &BTreeMap::new(), Arc::default()).map_err(
            |(at, message)| Error::Invalid {
                path: path.clone(),
                at,
                message,
            },
        )?,
        allowed_hosts: AllowedHosts::default(),
    };
    let route = Route::new("/...", &format!("{id}-http-trigger"), Target::Component(0)).map_err(
        |message| Error::Invalid {
            path: path.clone(),
            at: "route".into(),
            message,
        },
    )?;
    let router = Router::new(vec![route]).0;
    Ok(App {
        name: id,
        version: None,
        description: None,
        components: vec![component],
        router,
        private: Vec::new(),
        logs: logs(options, &config, None),
        blocked_networks: config.blocked_networks,
        max_instance_memory: config.max_instance_memory,
        path,
        warnings: Vec::new(),
        _files: None,
    })
}

fn logs(
    options: &LoadOptions<'_>,
    config: &RuntimeConfig,
    directory: Option<&Path>,
) -> Option<LogDirectory> {
    let log = [options.log_dir.as_deref(), config.log_dir.as_deref()];
    LogDirectory::choose(
        log,
        [options.state_dir.as_deref(), config.state_dir.as_deref()],
        directory,
    )
}

/// What the steps of loading a manifest share.
pub(crate) struct Loader<'a> {
    pub(crate) path: &'a Path,
    /// The manifest's directory, absolute.
    pub(crate) base: PathBuf,
    pub(crate) options: &'a LoadOptions<'a>,
}

impl<'a> Loader<'a> {
    pub(crate) fn new(path: &'a Path, options: &'a LoadOptions<'a>) -> Result<Self, Error> {
        let absolute = std::path::absolute(path).map_err(|source| Error::Read {
            path: path.to_owned(),
            source,
        })?;
        let base = absolute.parent().unwrap_or(Path::new("/")).to_owned();
        Ok(Loader {
            path,
            base,
            options,
        })
    }

    pub(crate) fn invalid(&self, at: impl Into<String>, message: impl Into<String>) -> Error {
        Error::Invalid {
            path: self.path.to_owned(),
            at: one_line(&at.into()),
            message: one_line(&message.into()),
        }
    }

    pub(crate) fn unsupported(&self, at: impl Into<String>, field: impl Into<String>) -> Error {
        let way_out = "remove it, or run the app under `spin up`";
        Error::Unsupported {
            path: self.path.to_owned(),
            at: at.into(),
            field: field.into(),
            way_out,
        }
    }

    fn load(&self, mut manifest: Manifest, mut config: RuntimeConfig) -> Result<App, Error> {
        self.normalize(&mut manifest)?;
        self.refuse(&manifest)?;
        let mut warnings = Vec::new();

        let given = arguments::values(&self.options.variables)?;
        warnings.extend(
            given
                .keys()
                .filter(|name| {
                    !manifest
                        .variables
                        .keys()
                        .any(|known| known.as_str() == *name)
                })
                .map(|name| format!("--variable {name}: the app has no such variable")),
        );
        let mut providers = vec![Provider::Static(given)];
        providers.append(&mut config.providers);
        providers.push(Provider::environment(None, Some(".env".into())));
        let variables = Arc::new(Variables::new(
            std::mem::take(&mut manifest.variables),
            providers,
            self.path,
        )?);
        variables.check_required()?;

        let ids: Vec<String> = manifest.component.keys().map(ToString::to_string).collect();
        let Triggers {
            router,
            private,
            triggered,
            warnings: odd,
        } = self.triggers(&manifest, &ids)?;
        warnings.extend(odd);

        let temp = match &self.options.temp {
            Some(path) => TempDir::new_in(path),
            None => TempDir::with_prefix("levelfield-"),
        };
        let temp = temp.map_err(|source| Error::Write {
            path: self.options.temp.clone().unwrap_or_else(std::env::temp_dir),
            source,
        })?;
        let shared = Shared {
            loader: self,
            variables,
            components: ids.into(),
            temp: temp.path(),
        };
        let mut components = Vec::new();
        for (index, (id, written)) in manifest.component.into_iter().enumerate() {
            let has_trigger = triggered[index];
            components.push(shared.component(id.as_str(), written, has_trigger, &mut warnings)?);
        }

        let application = manifest.application;
        let app = App {
            name: application.name,
            version: application.version.filter(|version| !version.is_empty()),
            description: application.description,
            path: self.path.to_owned(),
            components,
            router,
            private,
            logs: logs(self.options, &config, Some(&self.base)),
            blocked_networks: config.blocked_networks,
            max_instance_memory: config.max_instance_memory,
            warnings,
            _files: Some(temp),
        };
        self.only_chosen(app)
    }

    /// Makes implicit names and the profile explicit.
    pub(crate) fn normalize(&self, manifest: &mut Manifest) -> Result<(), Error> {
        normalize::name_triggers(&mut manifest.trigger.http);
        normalize::name_inline_components(manifest);
        if let Some(profile) = &self.options.profile {
            if !manifest
                .component
                .values()
                .any(|component| component.profile.contains_key(profile))
            {
                return Err(self.invalid(
                    "--profile",
                    format!("no component has the profile `{profile}`"),
                ));
            }
            for component in manifest.component.values_mut() {
                normalize::apply_profile(component, profile);
            }
        }
        Ok(())
    }

    /// Leaves out the components that `--component-id` does not name, and their routes.
    fn only_chosen(&self, mut app: App) -> Result<App, Error> {
        let chosen = &self.options.components;
        if chosen.is_empty() {
            return Ok(app);
        }
        let known: Vec<&str> = app
            .components
            .iter()
            .map(|component| component.id.as_str())
            .collect();
        check_chosen(chosen, &known)?;
        app.keep_components(|component| chosen.contains(&component.id));
        Ok(app)
    }
}
