//! The resolved app: what a host runs.

use std::path::PathBuf;

use tempfile::TempDir;

use crate::building::Recipe;
use crate::files::Mount;
use crate::logs::LogDirectory;
use crate::networks::BlockedNetworks;
use crate::outbound::{AllowedHosts, CHAINING_DOMAIN};
use crate::route::{Router, Target};
use crate::variables::{ComponentVariables, VariableError};

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
    /// Triggers with `route = { private = true }` and their components: reachable by service chaining alone.
    pub private: Vec<(String, usize)>,
    /// Networks that no component may reach, to be asked after DNS.
    pub blocked_networks: BlockedNetworks,
    /// Where the components' output is kept; `None`: nowhere.
    pub logs: Option<LogDirectory>,
    /// The runtime config's limit on an instance's memory, in bytes.
    pub max_instance_memory: Option<u64>,
    /// What is odd but no error, one line each, for the host to print.
    pub warnings: Vec<String>,
    /// Holds the copies of the components' files as long as the app lives.
    pub(crate) _files: Option<TempDir>,
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
    pub build: Option<Recipe>,
    pub(crate) variables: ComponentVariables,
    /// What the component may reach, its templates filled in: no variable changes while the app runs.
    pub allowed_hosts: AllowedHosts,
}

impl App {
    /// The index of the component that `host`, as in `<id>.spin.internal`, names, if it can be called so.
    pub fn chained(&self, host: &str) -> Option<usize> {
        let id = host.strip_suffix(CHAINING_DOMAIN)?;
        self.components
            .iter()
            .position(|component| component.id == id && component.has_trigger)
    }

    /// Keeps the components that `keep` says, and what leads to them. Static responses stay.
    pub(crate) fn keep_components(&mut self, keep: impl Fn(&Component) -> bool) {
        let mut kept = 0;
        let indices: Vec<Option<usize>> = self
            .components
            .iter()
            .map(|component| {
                kept += usize::from(keep(component));
                keep(component).then(|| kept - 1)
            })
            .collect();
        self.router = std::mem::take(&mut self.router).retarget(|target| match target {
            Target::Component(index) => indices[*index].map(Target::Component),
            Target::Static(response) => Some(Target::Static(response.clone())),
        });
        self.private.retain_mut(|(_, index)| match indices[*index] {
            Some(moved) => {
                *index = moved;
                true
            }
            None => false,
        });
        self.components.retain(keep);
    }
}

impl Component {
    /// The value that the component's variable `name` has now.
    pub fn variable(&self, name: &str) -> Result<String, VariableError> {
        self.variables.get(name)
    }

    /// The names of the component's variables.
    pub fn variable_names(&self) -> impl Iterator<Item = &str> {
        self.variables.names()
    }
}
