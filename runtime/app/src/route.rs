//! HTTP routes and the router. Only the raw percent-encoded path counts; nothing is decoded or cleaned and there is
//! never a redirect.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};

use crate::headers;
use crate::pattern::Pattern;

/// What answers a request.
#[derive(Clone, Debug)]
pub enum Target {
    /// The component at this index of [`crate::App::components`].
    Component(usize),
    /// A response kept in the manifest.
    Static(Arc<StaticResponse>),
}

/// A `static_response`.
#[derive(Clone, Debug)]
pub struct StaticResponse {
    /// `None` when the status or a header is none that HTTP has: that fails each request, not the start.
    valid: Option<(StatusCode, HeaderMap)>,
    body: Bytes,
}

impl StaticResponse {
    pub(crate) fn new<'a>(
        status: u16,
        headers: impl IntoIterator<Item = (&'a str, &'a str)>,
        body: String,
    ) -> Self {
        let headers = headers.into_iter().map(|(name, value)| {
            Some((
                HeaderName::try_from(name).ok()?,
                HeaderValue::try_from(value).ok()?,
            ))
        });
        let valid = StatusCode::from_u16(status).ok().zip(headers.collect());
        StaticResponse {
            valid,
            body: body.into(),
        }
    }

    pub(crate) fn is_valid(&self) -> bool {
        self.valid.is_some()
    }

    /// The response, with no content-type of its own.
    pub fn response(&self) -> Response<Bytes> {
        let mut response = Response::new(Bytes::new());
        match &self.valid {
            Some((status, headers)) => {
                *response.status_mut() = *status;
                *response.headers_mut() = headers.clone();
                *response.body_mut() = self.body.clone();
            }
            None => *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR,
        }
        response
    }
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
    pattern: Pattern,
}

impl Route {
    pub(crate) fn new(raw: &str, trigger: &str, target: Target) -> Result<Self, String> {
        let pattern = Pattern::parse(raw)?;
        let headers = headers::OfRoute::new(raw, &pattern.names)?;
        Ok(Route {
            raw: raw.to_owned(),
            trigger: trigger.to_owned(),
            target,
            headers,
            pattern,
        })
    }

    /// Whether the route ends in a wildcard.
    pub fn is_wildcard(&self) -> bool {
        self.pattern.is_wildcard()
    }

    /// The names of the route's `:name` parameters.
    pub fn parameters(&self) -> &[String] {
        &self.pattern.names
    }

    fn matched<'r, 'p>(&'r self, path: &'p str) -> Option<Match<'r, 'p>> {
        let inner = path.trim_start_matches('/');
        let start = path.len() - inner.len();
        let inner = inner.trim_end_matches('/');
        let found = self.pattern.matches(inner)?;
        let path_info = match found.tail {
            None => "",
            Some(tail) => path_info(path, start + tail, start + inner.len()),
        };
        Some(Match {
            route: self,
            captures: found.captures,
            path_info,
        })
    }
}

/// The wildcard's part of a path with the `/` before it and, when the path ends in slashes, one of them.
fn path_info(path: &str, start: usize, end: usize) -> &str {
    match (start == end, path.ends_with('/')) {
        (true, false) => "",
        (true, true) => "/",
        // A part that is not empty has a `/` before it: the path's first or the one that the pattern matched.
        (false, ends_in_slash) => &path[start - 1..end + usize::from(ends_in_slash)],
    }
}

/// A request's route.
#[derive(Debug)]
pub struct Match<'r, 'p> {
    pub route: &'r Route,
    /// What each of [`Route::parameters`] captured, raw.
    pub captures: Vec<&'p str>,
    /// What the request's component sees as `spin-path-info`.
    pub path_info: &'p str,
}

impl Match<'_, '_> {
    fn precedes(&self, other: &Self) -> bool {
        self.route.pattern.precedence(&other.route.pattern) == Ordering::Less
    }
}

/// All public routes of an app.
#[derive(Debug, Default)]
pub struct Router {
    /// As declared.
    routes: Vec<Route>,
    /// Routes that one path matches, by that path. Such a route precedes every other that matches the path.
    literals: HashMap<String, usize>,
    /// The other routes. They are not sorted: precedence is an order only among those that match one path.
    patterns: Vec<usize>,
}

impl Router {
    /// Builds the router; returns also what is odd about the routes, a line each.
    pub(crate) fn new(declared: Vec<Route>) -> (Self, Vec<String>) {
        let mut warnings = Vec::new();
        let mut routes: Vec<Route> = Vec::new();
        for route in declared {
            let Route { raw, trigger, .. } = &route;
            if raw.trim_matches('/').contains("//") {
                warnings.push(format!(
                    "route `{raw}` ({trigger}) has an inner `//` and matches only paths with it"
                ));
            }
            if raw.starts_with("/.well-known/spin/") {
                warnings.push(format!(
                    "route `{raw}` ({trigger}) is never reached: the host answers it itself"
                ));
            }
            match routes.iter_mut().find(|earlier| earlier.raw == *raw) {
                None => routes.push(route),
                Some(earlier) => {
                    warnings.push(format!(
                        "route `{raw}` is declared twice: {trigger} replaces {}",
                        earlier.trigger
                    ));
                    *earlier = route;
                }
            }
        }
        let mut literals = HashMap::new();
        let mut patterns = Vec::new();
        for (index, route) in routes.iter().enumerate() {
            if route.pattern.is_literal() {
                literals
                    .entry(route.raw.trim_matches('/').to_owned())
                    .or_insert(index);
            } else {
                patterns.push(index);
            }
        }
        (
            Router {
                routes,
                literals,
                patterns,
            },
            warnings,
        )
    }

    /// Keeps the routes whose target becomes something, as that.
    pub(crate) fn retarget(self, mut target: impl FnMut(&Target) -> Option<Target>) -> Self {
        let kept = self.routes.into_iter().filter_map(|route| {
            Some(Route {
                target: target(&route.target)?,
                ..route
            })
        });
        Router::new(kept.collect()).0
    }

    /// The routes as declared.
    pub fn routes(&self) -> &[Route] {
        &self.routes
    }

    /// The route that answers `path`, the raw path of a request without its query.
    pub fn lookup<'r, 'p>(&'r self, path: &'p str) -> Option<Match<'r, 'p>> {
        if !path.starts_with('/') {
            return None;
        }
        if let Some(&index) = self.literals.get(path.trim_matches('/')) {
            return Some(Match {
                route: &self.routes[index],
                captures: Vec::new(),
                path_info: "",
            });
        }
        let matches = self
            .patterns
            .iter()
            .filter_map(|&index| self.routes[index].matched(path));
        // Of two that neither precedes, the first declared stays.
        matches.reduce(|best, other| if other.precedes(&best) { other } else { best })
    }

    /// Every route that could answer `path`, as declared.
    pub fn candidates<'r, 'p>(&'r self, path: &'p str) -> impl Iterator<Item = Match<'r, 'p>> {
        let absolute = path.starts_with('/');
        let routes = self.routes.iter().filter(move |_| absolute);
        routes.filter_map(move |route| route.matched(path))
    }
}

/// Builds a router of routes that all lead to one component; for tests and fuzzing.
pub fn router_of<'a>(routes: impl IntoIterator<Item = &'a str>) -> Result<Router, String> {
    let routes = routes
        .into_iter()
        .map(|route| Route::new(route, route, Target::Component(0)));
    Ok(Router::new(routes.collect::<Result<_, _>>()?).0)
}
