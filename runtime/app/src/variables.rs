//! Variables: what the app declares, where values come from, and what a component reads by name while it runs.
//!
//! A value is looked up at each use, in this order: `--variable`, the runtime config's providers, the process's
//! environment (`SPIN_VARIABLE_*`), `.env` in the current directory, the default.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use crate::Error;
use crate::error::quoted;
use crate::ids::VariableName;
use crate::manifest;
use crate::template::Template;

/// Why a component's variable has no value.
#[derive(Debug, thiserror::Error)]
pub enum VariableError {
    #[error("`{name}` is not a variable's name; names are lower snake case")]
    InvalidName { name: String },

    #[error(
        "component `{component}` has no variable `{name}`; add it to [component.{component}.variables]"
    )]
    Undefined { component: String, name: String },

    #[error("variable `{name}`: {message}")]
    Provider { name: String, message: String },
}

/// The app's variables and their providers.
#[derive(Debug, Default)]
pub(crate) struct Variables {
    defaults: BTreeMap<String, Option<String>>,
    providers: Vec<Provider>,
}

/// A source of values.
#[derive(Debug)]
pub(crate) enum Provider {
    Static(HashMap<String, String>),
    Environment {
        prefix: String,
        dotenv: Option<PathBuf>,
        read: OnceLock<HashMap<String, String>>,
    },
}

impl Provider {
    pub fn environment(prefix: Option<String>, dotenv: Option<PathBuf>) -> Self {
        let prefix = prefix.unwrap_or_else(|| "SPIN_VARIABLE".into());
        Provider::Environment {
            prefix,
            dotenv,
            read: OnceLock::new(),
        }
    }

    fn get(&self, name: &str) -> Result<Option<String>, String> {
        match self {
            Provider::Static(values) => Ok(values.get(name).cloned()),
            Provider::Environment {
                prefix,
                dotenv,
                read,
            } => {
                let key = format!("{prefix}_{}", name.to_ascii_uppercase());
                match std::env::var(&key) {
                    Ok(value) => return Ok(Some(value)),
                    Err(std::env::VarError::NotPresent) => {}
                    Err(error) => return Err(format!("{key}: {error}")),
                }
                let Some(path) = dotenv else { return Ok(None) };
                if let Some(read) = read.get() {
                    return Ok(read.get(&key).cloned());
                }
                let values = read_dotenv(path)?;
                Ok(read.get_or_init(|| values).get(&key).cloned())
            }
        }
    }
}

/// The pairs of a dotenv file; none when there is no such file.
fn read_dotenv(path: &Path) -> Result<HashMap<String, String>, String> {
    if !path.is_file() {
        return Ok(HashMap::new());
    }
    // Not the error's own text, which repeats the line and with it perhaps a secret.
    let wrong = |error| match error {
        dotenvy::Error::LineParse(..) => {
            format!("{}: a line is not of the form NAME=VALUE", path.display())
        }
        error => format!("{}: {error}", path.display()),
    };
    dotenvy::from_path_iter(path)
        .map_err(wrong)?
        .collect::<Result<_, _>>()
        .map_err(wrong)
}

impl Variables {
    /// `path` is the manifest's, for messages.
    pub fn new(
        declared: BTreeMap<VariableName, manifest::Variable>,
        providers: Vec<Provider>,
        path: &Path,
    ) -> Result<Self, Error> {
        let mut defaults = BTreeMap::new();
        for (name, variable) in declared {
            let name = name.as_str().to_owned();
            if variable.required == variable.default.is_some() {
                return Err(Error::Invalid {
                    path: path.to_owned(),
                    at: format!("variable `{name}`"),
                    message: "needs exactly one of `default = \"…\"` and `required = true`".into(),
                });
            }
            defaults.insert(name, variable.default);
        }
        Ok(Variables {
            defaults,
            providers,
        })
    }

    pub fn contains(&self, name: &str) -> bool {
        self.defaults.contains_key(name)
    }

    /// The value that the app's variable `name` has now.
    pub fn get(&self, name: &str) -> Result<String, VariableError> {
        let failed = |message: String| VariableError::Provider {
            name: name.to_owned(),
            message,
        };
        for provider in &self.providers {
            if let Some(value) = provider.get(name).map_err(failed)? {
                return Ok(value);
            }
        }
        match self.defaults.get(name) {
            Some(Some(default)) => Ok(default.clone()),
            Some(None) => Err(failed("required, and nothing gives it a value".into())),
            None => Err(failed("the app declares no such variable".into())),
        }
    }

    /// Checks that each variable without a default has a value.
    pub fn check_required(&self) -> Result<(), Error> {
        let mut missing = Vec::new();
        for name in self
            .defaults
            .iter()
            .filter(|(_, default)| default.is_none())
            .map(|(name, _)| name)
        {
            let mut value = None;
            for provider in &self.providers {
                let failed = |message| VariableError::Provider {
                    name: name.clone(),
                    message,
                };
                value = value.or(provider.get(name).map_err(failed)?);
            }
            if value.is_none() {
                missing.push(name.as_str());
            }
        }
        match missing.first() {
            None => Ok(()),
            Some(first) => Err(Error::NoValue {
                names: quoted(missing.iter().copied()),
                first: (*first).to_owned(),
            }),
        }
    }
}

/// A component's `[component.x.variables]`.
#[derive(Clone, Debug)]
pub(crate) struct ComponentVariables {
    component: String,
    templates: BTreeMap<String, Template>,
    app: Arc<Variables>,
}

impl ComponentVariables {
    /// Parses the templates and checks that the app declares what they name. An error comes with its variable.
    pub fn new(
        component: &str,
        written: &BTreeMap<VariableName, String>,
        app: Arc<Variables>,
    ) -> Result<Self, (String, String)> {
        let mut templates = BTreeMap::new();
        for (name, text) in written {
            let at = |message: String| (name.as_str().to_owned(), message);
            let template = Template::parse(text).map_err(at)?;
            check_names(&app, template.variables()).map_err(at)?;
            templates.insert(name.as_str().to_owned(), template);
        }
        Ok(ComponentVariables {
            component: component.to_owned(),
            templates,
            app,
        })
    }

    /// The value that the component's variable `name` has now.
    pub fn get(&self, name: &str) -> Result<String, VariableError> {
        if VariableName::try_from(name.to_owned()).is_err() {
            return Err(VariableError::InvalidName {
                name: name.to_owned(),
            });
        }
        let undefined = || VariableError::Undefined {
            component: self.component.clone(),
            name: name.to_owned(),
        };
        self.templates
            .get(name)
            .ok_or_else(undefined)?
            .render(|name| self.app.get(name))
    }

    /// The names of the component's variables.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.templates.keys().map(String::as_str)
    }
}

/// Checks that the app declares each of `names`.
pub(crate) fn check_names<'a>(
    app: &Variables,
    names: impl IntoIterator<Item = &'a str>,
) -> Result<(), String> {
    match names.into_iter().find(|name| !app.contains(name)) {
        None => Ok(()),
        Some(name) => Err(format!(
            "`{{{{ {name} }}}}`: the app has no variable `{name}`; add [variables.{name}]"
        )),
    }
}
