//! HTTP routes: patterns, their precedence, and the matcher. Only the raw percent-encoded path counts; nothing is
//! decoded or cleaned and there is never a redirect.

use std::sync::Arc;

use http::HeaderValue;

use crate::headers;

/// What answers a request.
#[derive(Clone, Debug)]
pub enum Target {
    /// The component at this index of [`crate::App::components`].
    Component(usize),
    /// A response kept in the manifest.
    Static(Arc<StaticResponse>),
}

/// A `static_response`. A bad status or header is found per request, as Spin does.
#[derive(Clone, Debug)]
pub struct StaticResponse {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: bytes::Bytes,
}

/// One public route.
#[derive(Debug)]
pub struct Route {
    /// The route exactly as in the manifest.
    pub raw: String,
    /// The id of its trigger.
    pub trigger: String,
    pub target: Target,
    pub(crate) headers: headers::OfRoute,
}

/// A request's route.
#[derive(Debug)]
pub struct Match<'r, 'p> {
    pub route: &'r Route,
    /// What each `:name` captured, raw, in the pattern's order.
    pub captures: Vec<(&'r str, &'p str)>,
    /// What the request's component sees as `spin-path-info`.
    pub path_info: &'p str,
}

/// All routes of an app.
#[derive(Debug, Default)]
pub struct Router {
    routes: Vec<Route>,
}

impl Router {
    pub(crate) fn add(
        &mut self,
        raw: String,
        trigger: String,
        target: Target,
    ) -> Result<(), String> {
        let headers = headers::OfRoute::new(&raw)
            .ok_or_else(|| format!("route `{raw}` cannot be sent in a header"))?;
        self.routes.push(Route {
            raw,
            trigger,
            target,
            headers,
        });
        Ok(())
    }

    /// The routes in the manifest's order.
    pub fn routes(&self) -> &[Route] {
        &self.routes
    }

    /// The route that answers `path`, the raw path of a request without its query.
    pub fn lookup<'r, 'p>(&'r self, path: &'p str) -> Option<Match<'r, 'p>> {
        let route = self.routes.iter().find(|route| route.raw == "/...")?;
        Some(Match {
            route,
            captures: Vec::new(),
            path_info: path,
        })
    }
}

pub(crate) fn header_value(text: &str) -> Option<HeaderValue> {
    HeaderValue::from_str(text).ok()
}
