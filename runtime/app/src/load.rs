//! Loading: from a path and the command line's settings to an [`App`], checked to the end.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;

use crate::app::{App, Component, Outbound};
use crate::arguments::{self, EnvironmentArgument, VariableArgument};
use crate::building::Recipe;
use crate::error::{Error, one_line, quoted};
use crate::files::Files;
use crate::locate::{self, Origin};
use crate::logs::LogDirectory;
use crate::manifest::{self, Manifest};
use crate::normalize;
use crate::outbound::{AllowList, from_http_hosts};
use crate::route::{Route, Router, Target};
use crate::runtime_config::{self, RuntimeConfig};
use crate::shapes::StringOr;
use crate::source::{self, Fetch, Sources};
use crate::triggers::Triggers;
use crate::variables::{self, ComponentVariables, Provider, Variables};
use crate::watching::Watched;

/// Where the app is and what the command line says of it.
#[derive(Default)]
pub struct LoadOptions<'a> {
    /// `--from`: a manifest, a directory with a `spin.toml`, or a bare `.wasm` or `.wat`. `None`: `spin.toml` here
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

/// How the app's components, or the chosen ones, are built; it needs no wasm file to be there.
pub fn recipes(options: &LoadOptions<'_>) -> Result<Vec<Recipe>, Error> {
    let path = match locate::origin(options.from.as_deref())? {
        Origin::Wasm(_) => return Ok(Vec::new()),
        Origin::Manifest(path) => path,
    };
    let loader = Loader::new(&path, options)?;
    let mut manifest = manifest::read(&path)?;
    loader.normalize(&mut manifest)?;
    let ids: Vec<&str> = manifest.component.keys().map(|id| id.as_str()).collect();
    check_chosen(&options.components, &ids)?;
    let mut recipes = Vec::new();
    for (id, written) in &manifest.component {
        let chosen = |chosen: &String| chosen == id.as_str();
        if options.components.is_empty() || options.components.iter().any(chosen) {
            recipes.extend(loader.recipe(id.as_str(), written)?);
        }
    }
    Ok(recipes)
}

/// Checks that the app has every component that was chosen.
fn check_chosen(chosen: &[String], known: &[&str]) -> Result<(), Error> {
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

/// What to look at to see that the app has changed. It works where loading would not: of a broken manifest only the
/// manifest itself is watched.
pub fn watched(options: &LoadOptions<'_>) -> Result<Watched, Error> {
    let path = match locate::origin(options.from.as_deref())? {
        Origin::Wasm(path) => {
            return Ok(Watched {
                wasm: vec![path],
                ..Watched::default()
            });
        }
        Origin::Manifest(path) => path,
    };
    let loader = Loader::new(&path, options)?;
    let mut watched = Watched {
        manifest: Some(loader.base.join(path.file_name().unwrap_or_default())),
        ..Watched::default()
    };
    let Ok(mut manifest) = manifest::read(&path) else {
        return Ok(watched);
    };
    if loader.normalize(&mut manifest).is_err() {
        return Ok(watched);
    }
    for (id, written) in &manifest.component {
        if let StringOr::String(source) = &written.source {
            watched.wasm.push(loader.base.join(source));
        }
        watched
            .files
            .extend(written.files.iter().map(|entry| match entry {
                StringOr::String(text) => text.clone(),
                StringOr::Table(placement) => placement.source.clone(),
            }));
        watched
            .recipes
            .extend(loader.recipe(id.as_str(), written).ok().flatten());
    }
    Ok(watched)
}

/// Checks a manifest's text as far as no file is needed: its shape, names and routes. For fuzzing.
pub fn check_manifest(text: &str) -> Result<(), Error> {
    let (path, options) = (Path::new("spin.toml"), LoadOptions::default());
    let loader = Loader::new(path, &options)?;
    let mut manifest = manifest::parse(text, path)?;
    loader.normalize(&mut manifest)?;
    loader.refuse(&manifest)?;
    let ids: Vec<String> = manifest.component.keys().map(ToString::to_string).collect();
    loader.triggers(&manifest, &ids).map(drop)
}

/// A bare component: it gets every path and may reach nothing.
fn bare(path: PathBuf, options: &LoadOptions<'_>, config: RuntimeConfig) -> Result<App, Error> {
    let id = path
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
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
        outbound: Outbound::Fixed(Arc::default()),
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

fn environment(
    written: BTreeMap<String, String>,
    added: &[EnvironmentArgument],
) -> Vec<(String, String)> {
    let mut environment = written;
    environment.extend(
        added
            .iter()
            .map(|EnvironmentArgument { name, value }| (name.clone(), value.clone())),
    );
    environment.into_iter().collect()
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
    path: &'a Path,
    /// The manifest's directory, absolute.
    base: PathBuf,
    options: &'a LoadOptions<'a>,
}

impl<'a> Loader<'a> {
    fn new(path: &'a Path, options: &'a LoadOptions<'a>) -> Result<Self, Error> {
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
        let mut components = Vec::new();
        let all: Arc<[String]> = ids.into();
        for (index, (id, written)) in manifest.component.into_iter().enumerate() {
            let component = self.component(
                id.as_str(),
                written,
                &variables,
                &all,
                triggered[index],
                temp.path(),
                &mut warnings,
            )?;
            components.push(component);
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
    fn normalize(&self, manifest: &mut Manifest) -> Result<(), Error> {
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

    #[allow(clippy::too_many_arguments)] // What one component takes from the app, once.
    fn component(
        &self,
        id: &str,
        written: manifest::Component,
        variables: &Arc<Variables>,
        components: &Arc<[String]>,
        has_trigger: bool,
        temp: &Path,
        warnings: &mut Vec<String>,
    ) -> Result<Component, Error> {
        let at = |field: &str| format!("component `{id}`: {field}");
        let build = self.recipe(id, &written)?;
        let default_cache = locate::cache_dir();
        let sources = Sources {
            manifest: self.path,
            base: &self.base,
            cache: self.options.cache_dir.as_deref().unwrap_or(&default_cache),
            fetch: self.options.fetch,
        };
        let wasm = sources.locate(id, &written.source)?;
        if build.as_ref().is_some_and(Recipe::is_stale) {
            warnings.push(format!(
                "component `{id}`: its sources are newer than {}; build it (--build)",
                wasm.display()
            ));
        }

        let files = Files {
            entries: &written.files,
            exclude: &written.exclude_files,
            base: &self.base,
            writable: self.options.allow_transient_write,
        };
        let wrong = |message: String| self.invalid(at("files"), message);
        let mounts = if self.options.direct_mounts {
            files.mount_directly().map_err(wrong)?
        } else {
            let (mounts, odd) = files.copy(&temp.join(id)).map_err(wrong)?;
            warnings.extend(
                odd.into_iter()
                    .map(|line| format!("component `{id}`: {line}")),
            );
            mounts
        };

        let mut hosts = written.allowed_outbound_hosts;
        if !written.allowed_http_hosts.is_empty() {
            let entries = from_http_hosts(&written.allowed_http_hosts);
            let list = entries
                .iter()
                .map(|entry| format!("\"{entry}\""))
                .collect::<Vec<_>>()
                .join(", ");
            warnings.push(format!("component `{id}`: allowed_http_hosts is deprecated; write allowed_outbound_hosts = [{list}]"));
            hosts.extend(entries);
        }
        let wrong = |(entry, message)| {
            self.invalid(at(&format!("allowed_outbound_hosts: `{entry}`")), message)
        };
        let list = AllowList::parse(&hosts).map_err(wrong)?;
        let undeclared = |message| self.invalid(at("allowed_outbound_hosts"), message);
        variables::check_names(variables, list.variables()).map_err(undeclared)?;
        // Resolved once here also when templated: a value that makes no entry is an error at start.
        let resolved = list
            .resolve(components, |name| variables.get(name))
            .map_err(wrong)?;
        let outbound = if list.variables().next().is_none() {
            Outbound::Fixed(Arc::new(resolved))
        } else {
            Outbound::Templated {
                list,
                path: self.path.to_owned(),
                components: components.clone(),
            }
        };

        let wrong = |(name, message): (String, String)| {
            self.invalid(at(&format!("variables.{name}")), message)
        };
        Ok(Component {
            id: id.to_owned(),
            description: written
                .description
                .filter(|description| !description.is_empty()),
            wasm,
            environment: environment(written.environment, &self.options.environment),
            mounts,
            has_trigger,
            build,
            variables: ComponentVariables::new(id, &written.variables, variables.clone())
                .map_err(wrong)?,
            outbound,
        })
    }

    fn recipe(&self, id: &str, written: &manifest::Component) -> Result<Option<Recipe>, Error> {
        let Some(build) = &written.build else {
            return Ok(None);
        };
        let workdir = build.workdir.as_deref().unwrap_or_default();
        if Path::new(workdir).is_absolute() {
            let message = format!("`{workdir}` is absolute; it must be relative to the manifest");
            return Err(self.invalid(format!("component `{id}`: build.workdir"), message));
        }
        let wasm = match &written.source {
            StringOr::String(path) => Some(self.base.join(path)),
            StringOr::Table(_) => None,
        };
        Ok(Some(Recipe {
            component: id.to_owned(),
            commands: build.command.0.clone(),
            workdir: self.base.join(workdir),
            watch: build.watch.clone(),
            wasm,
        }))
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
