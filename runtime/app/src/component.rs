//! Loading one component of a manifest: its wasm, files, permissions and variables, checked.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::app::Component;
use crate::arguments::EnvironmentArgument;
use crate::building::Recipe;
use crate::error::Error;
use crate::files::{Files, Mount};
use crate::load::Loader;
use crate::locate;
use crate::manifest::{self, RemoteSource};
use crate::outbound::{AllowList, AllowedHosts, from_http_hosts};
use crate::shapes::StringOr;
use crate::source::Sources;
use crate::variables::{self, ComponentVariables, Variables};

/// What every component of an app takes from it.
pub(crate) struct Shared<'a> {
    pub loader: &'a Loader<'a>,
    pub variables: Arc<Variables>,
    /// The ids of all components.
    pub components: Arc<[String]>,
    /// Where copies of mounted files go.
    pub temp: &'a Path,
}

impl Shared<'_> {
    /// Loads a component; what is odd about it goes to `warnings`.
    pub fn component(
        &self,
        id: &str,
        written: manifest::Component,
        has_trigger: bool,
        warnings: &mut Vec<String>,
    ) -> Result<Component, Error> {
        let mut warn = |line: String| warnings.push(format!("component `{id}`: {line}"));
        let build = self.loader.recipe(id, &written)?;
        let wasm = self.loader.wasm(id, &written.source)?;
        if build.as_ref().is_some_and(Recipe::is_stale) {
            warn(format!(
                "its sources are newer than {}; build it (--build)",
                wasm.display()
            ));
        }
        let mounts = self.mounts(id, &written, &mut warn)?;
        let allowed_hosts = self.allowed_hosts(id, &written, &mut warn)?;
        let wrong = |(name, message): (String, String)| {
            let at = format!("component `{id}`: variables.{name}");
            self.loader.invalid(at, message)
        };
        let variables = ComponentVariables::new(id, &written.variables, self.variables.clone())
            .map_err(wrong)?;
        Ok(Component {
            id: id.to_owned(),
            description: written
                .description
                .filter(|description| !description.is_empty()),
            wasm,
            environment: environment(written.environment, &self.loader.options.environment),
            mounts,
            has_trigger,
            build,
            variables,
            allowed_hosts,
        })
    }

    fn mounts(
        &self,
        id: &str,
        written: &manifest::Component,
        warn: &mut impl FnMut(String),
    ) -> Result<Vec<Mount>, Error> {
        let options = self.loader.options;
        let files = Files {
            entries: &written.files,
            exclude: &written.exclude_files,
            base: &self.loader.base,
            writable: options.allow_transient_write,
        };
        let wrong = |message: String| {
            self.loader
                .invalid(format!("component `{id}`: files"), message)
        };
        if options.direct_mounts {
            return files.mount_directly().map_err(wrong);
        }
        let (mounts, odd) = files.copy(&self.temp.join(id)).map_err(wrong)?;
        odd.into_iter().for_each(warn);
        Ok(mounts)
    }

    fn allowed_hosts(
        &self,
        id: &str,
        written: &manifest::Component,
        warn: &mut impl FnMut(String),
    ) -> Result<AllowedHosts, Error> {
        let at = format!("component `{id}`: allowed_outbound_hosts");
        let mut hosts = written.allowed_outbound_hosts.clone();
        if !written.allowed_http_hosts.is_empty() {
            let entries = from_http_hosts(&written.allowed_http_hosts);
            let quoted: Vec<String> = entries.iter().map(|entry| format!("\"{entry}\"")).collect();
            warn(format!(
                "allowed_http_hosts is deprecated; write allowed_outbound_hosts = [{}]",
                quoted.join(", ")
            ));
            hosts.extend(entries);
        }
        let wrong = |(entry, message)| self.loader.invalid(format!("{at}: `{entry}`"), message);
        let list = AllowList::parse(&hosts).map_err(wrong)?;
        variables::check_names(&self.variables, list.variables())
            .map_err(|message| self.loader.invalid(at.clone(), message))?;
        list.resolve(&self.components, |name| self.variables.get(name))
            .map_err(wrong)
    }
}

impl Loader<'_> {
    /// The local file of a component's wasm.
    pub(crate) fn wasm(&self, id: &str, source: &StringOr<RemoteSource>) -> Result<PathBuf, Error> {
        let default_cache = locate::cache_dir();
        let sources = Sources {
            manifest: self.path,
            base: &self.base,
            cache: self.options.cache_dir.as_deref().unwrap_or(&default_cache),
            fetch: self.options.fetch,
        };
        sources.locate(id, source)
    }

    /// How a component is built, if the manifest says so.
    pub(crate) fn recipe(
        &self,
        id: &str,
        written: &manifest::Component,
    ) -> Result<Option<Recipe>, Error> {
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
}

/// A component's environment: what the manifest says, and the command line over it.
pub(crate) fn environment(
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
