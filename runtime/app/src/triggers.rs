//! HTTP triggers: the routes they make and what answers them.

use std::sync::Arc;

use crate::error::Error;
use crate::load::Loader;
use crate::manifest::{HttpTrigger, Manifest};
use crate::route::{Route, Router, StaticResponse, Target};
use crate::shapes::StringOr;

/// What an app's triggers come to.
pub(crate) struct Triggers {
    pub router: Router,
    /// Private triggers and their components.
    pub private: Vec<(String, usize)>,
    /// For each component whether a trigger names it.
    pub triggered: Vec<bool>,
    pub warnings: Vec<String>,
}

impl Loader<'_> {
    /// Resolves the triggers of a normalized manifest; `components` are its components' ids in order.
    pub(crate) fn triggers(
        &self,
        manifest: &Manifest,
        components: &[String],
    ) -> Result<Triggers, Error> {
        let mut routes = Vec::new();
        let mut private = Vec::new();
        let mut warnings = Vec::new();
        let mut triggered = vec![false; components.len()];
        for trigger in &manifest.trigger.http {
            let id = trigger.id.as_deref().unwrap_or_default();
            let target = self.target(id, trigger, components)?;
            if let Target::Component(index) = target {
                triggered[index] = true;
            }
            match (&trigger.route, target) {
                (StringOr::String(route), target) => {
                    if let Target::Static(response) = &target
                        && !response.is_valid()
                    {
                        warnings.push(format!(
                            "trigger `{id}`: its static_response has no valid status and headers: requests will get 500"
                        ));
                    }
                    let wrong = |message: String| {
                        self.invalid(format!("trigger `{id}`: route `{route}`"), message)
                    };
                    routes.push(Route::new(route, id, target).map_err(wrong)?);
                }
                (StringOr::Table(_), Target::Component(index)) => {
                    private.push((id.to_owned(), index));
                }
                (StringOr::Table(_), Target::Static(_)) => {
                    let message = "a static_response cannot be private";
                    return Err(self.invalid(format!("trigger `{id}`"), message));
                }
            }
        }
        let (router, odd) = Router::new(routes);
        warnings.extend(odd);
        Ok(Triggers {
            router,
            private,
            triggered,
            warnings,
        })
    }

    fn target(
        &self,
        id: &str,
        trigger: &HttpTrigger,
        components: &[String],
    ) -> Result<Target, Error> {
        let at = format!("trigger `{id}`");
        match (&trigger.component, &trigger.static_response) {
            (Some(StringOr::String(component)), None) => {
                let index = components.iter().position(|known| known == component);
                let unknown = || {
                    self.invalid(
                        at,
                        format!("there is no component `{component}`; add [component.{component}]"),
                    )
                };
                Ok(Target::Component(index.ok_or_else(unknown)?))
            }
            (None, Some(response)) => {
                let headers = response
                    .headers
                    .iter()
                    .map(|(name, value)| (name.as_str(), value.as_str()));
                Ok(Target::Static(Arc::new(StaticResponse::new(
                    response.status_code,
                    headers,
                    response.body.clone(),
                ))))
            }
            (None, None) => Err(self.invalid(at, "needs a `component` or a `static_response`")),
            (Some(_), _) => Err(self.invalid(
                at,
                "has both a `component` and a `static_response`; keep one",
            )),
        }
    }
}
