//! Makes a manifest's implicit parts explicit: trigger ids, ids of inline components, the chosen profile.

use std::collections::HashSet;

use crate::ids::ComponentId;
use crate::manifest::{Build, Component, HttpTrigger, Manifest};
use crate::shapes::StringOr;

/// Gives each trigger without an id one: `<component>-http-trigger`, or `http-trigger<N>` when that is taken or the
/// trigger names no component.
pub(crate) fn name_triggers(triggers: &mut [HttpTrigger]) {
    let mut taken: HashSet<String> = triggers
        .iter()
        .filter_map(|trigger| trigger.id.clone())
        .collect();
    for trigger in triggers.iter_mut().filter(|trigger| trigger.id.is_none()) {
        let natural = match &trigger.component {
            Some(StringOr::String(component)) => Some(format!("{component}-http-trigger")),
            _ => None,
        };
        let numbered = (1..).map(|number| format!("http-trigger{number}"));
        let id = natural
            .into_iter()
            .chain(numbered)
            .find(|id| !taken.contains(id));
        taken.extend(id.clone());
        trigger.id = id;
    }
}

/// Moves inline components among the others: `<trigger>-component`, or `inline-component<N>` when that is taken or
/// no component's id. Triggers must have their ids.
pub(crate) fn name_inline_components(manifest: &mut Manifest) {
    let components = &mut manifest.component;
    for trigger in &mut manifest.trigger.http {
        let Some(component @ StringOr::Table(_)) = &mut trigger.component else {
            continue;
        };
        let natural = format!("{}-component", trigger.id.as_deref().unwrap_or_default());
        let numbered = (1..).map(|number| format!("inline-component{number}"));
        let free = |id: String| {
            ComponentId::try_from(id)
                .ok()
                .filter(|id| !components.contains_key(id))
        };
        let Some(id) = std::iter::once(natural).chain(numbered).find_map(free) else {
            continue;
        };
        if let StringOr::Table(inline) =
            std::mem::replace(component, StringOr::String(id.to_string()))
        {
            components.insert(id, *inline);
        }
    }
}

/// Lays a profile over a component that has it; a component without it stays as it is.
pub(crate) fn apply_profile(component: &mut Component, profile: &str) {
    let Some(profile) = component.profile.remove(profile) else {
        return;
    };
    if let Some(source) = profile.source {
        component.source = source;
    }
    component.environment.extend(profile.environment);
    component.dependencies.extend(profile.dependencies);
    if let Some(build) = profile.build {
        match &mut component.build {
            Some(present) => present.command = build.command,
            None => {
                component.build = Some(Build {
                    command: build.command,
                    workdir: None,
                    watch: Vec::new(),
                })
            }
        }
    }
}
