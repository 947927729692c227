//! What Spin has and this host has not: refused by name, saying who needs it, never ignored.

use crate::error::Error;
use crate::load::Loader;
use crate::manifest::{self, Manifest};
use crate::shapes::StringOr;

impl Loader<'_> {
    /// Refuses by name what Spin has and this host has not.
    pub(crate) fn refuse(&self, manifest: &Manifest) -> Result<(), Error> {
        if let Some(kind) = manifest.trigger.others.first() {
            return Err(self.unsupported("the app", format!("trigger.{kind}")));
        }
        for (kind, settings) in &manifest.application.trigger {
            if kind != "http" {
                return Err(self.unsupported("the app", format!("application.trigger.{kind}")));
            }
            for (key, value) in settings {
                if key != "base" || value.as_str() != Some("/") {
                    let message = format!(
                        "`{key} = {value}` is not possible; only `base = \"/\"`, the default, is left"
                    );
                    return Err(self.invalid("application.trigger.http", message));
                }
            }
        }
        for (id, component) in &manifest.component {
            for (field, used) in [
                ("dependencies", !component.dependencies.is_empty()),
                ("key_value_stores", !component.key_value_stores.is_empty()),
                ("sqlite_databases", !component.sqlite_databases.is_empty()),
                ("ai_models", !component.ai_models.is_empty()),
            ] {
                if used {
                    return Err(self.unsupported(format!("component `{id}`"), field));
                }
            }
        }
        for trigger in &manifest.trigger.http {
            let at = || format!("trigger `{}`", trigger.id.as_deref().unwrap_or_default());
            match trigger
                .executor
                .as_ref()
                .map(|executor| executor.kind.as_str())
            {
                None | Some("http" | "spin") => {}
                Some("wagi") => return Err(self.unsupported(at(), "executor.type = \"wagi\"")),
                Some(other) => {
                    return Err(self.invalid(
                        at(),
                        format!("no executor has the type `{other}`; write \"http\""),
                    ));
                }
            }
            for (field, used) in [
                ("components", &trigger.components),
                ("dependencies", &trigger.dependencies),
            ] {
                if used.is_some() {
                    return Err(self.unsupported(at(), field));
                }
            }
            if let StringOr::Table(manifest::Private { private: false }) = trigger.route {
                return Err(self.invalid(
                    at(),
                    "`private = false` is no route; write a pattern, or `private = true`",
                ));
            }
        }
        Ok(())
    }
}
