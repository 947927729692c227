//! An app's routes for people and for programs: the table at start-up, and which route a path takes.

use std::fmt::Write;

use serde::Serialize;

use crate::app::App;
use crate::route::{Route, Target};

/// The routes as `--format json` prints them.
#[derive(Debug, Serialize)]
pub struct Listing {
    pub base_url: String,
    pub routes: Vec<Line>,
}

/// One route of a listing.
#[derive(Debug, Serialize)]
pub struct Line {
    /// The component's id; a static response has its trigger's.
    pub id: String,
    /// The route without its wildcard.
    pub route: String,
    pub wildcard: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

impl Listing {
    /// Lists the public routes as declared.
    pub fn new(app: &App, base_url: &str) -> Self {
        let line = |route: &Route| {
            let path = route
                .raw
                .strip_suffix("...")
                .or_else(|| route.raw.strip_suffix('*'))
                .unwrap_or(&route.raw);
            let path = path.trim_matches('/');
            let component = match route.target {
                Target::Component(index) => Some(&app.components[index]),
                Target::Static(_) => None,
            };
            Line {
                id: id(app, route).to_owned(),
                route: format!("/{path}"),
                wildcard: route.is_wildcard(),
                description: component.and_then(|component| component.description.clone()),
            }
        };
        Listing {
            base_url: base_url.to_owned(),
            routes: app.router.routes().iter().map(line).collect(),
        }
    }

    /// The listing for a person.
    pub fn text(&self) -> String {
        let mut text = String::from("Available Routes:\n");
        for Line {
            id,
            route,
            wildcard,
            description,
        } in &self.routes
        {
            // Spin prints a wildcard's route without the slash before it.
            let route = if *wildcard && route == "/" {
                ""
            } else {
                route.as_str()
            };
            let wildcard = if *wildcard { " (wildcard)" } else { "" };
            // Writing to a string cannot fail.
            let _ = writeln!(text, "  {id}: {}{route}{wildcard}", self.base_url);
            if let Some(description) = description {
                let _ = writeln!(text, "    {description}");
            }
        }
        text
    }
}

/// What answers: the component's id, or the trigger's for a static response.
fn id<'a>(app: &'a App, route: &'a Route) -> &'a str {
    match route.target {
        Target::Component(index) => &app.components[index].id,
        Target::Static(_) => &route.trigger,
    }
}

/// Says which route `path` takes and why, for a person. A query is left out, as routing does.
pub fn explain(app: &App, path: &str) -> String {
    let path = path.split('?').next().unwrap_or_default();
    if path.starts_with("/.well-known/spin/") {
        return format!("{path} is answered by the host itself, before any route\n");
    }
    let Some(found) = app.router.lookup(path) else {
        return format!("{path} matches no route: 404\n");
    };
    let mut text = format!(
        "{path} is answered by {} through the route {}\n",
        id(app, found.route),
        found.route.raw
    );
    for (name, capture) in found.route.parameters().iter().zip(&found.captures) {
        let _ = writeln!(text, "  :{name} = \"{capture}\"");
    }
    if found.route.is_wildcard() {
        let _ = writeln!(text, "  the wildcard's part = \"{}\"", found.path_info);
    }
    let others = app
        .router
        .candidates(path)
        .filter(|other| !std::ptr::eq(other.route, found.route));
    for passed in others {
        let _ = writeln!(
            text,
            "  {} ({}) matches too and comes after it",
            passed.route.raw,
            id(app, passed.route)
        );
    }
    text
}
