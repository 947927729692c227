//! From a method and a raw request target to what is asked for, in the contract's order of judgement.

use crate::{Answer, Page, UserId};

/// What a known path answers to, as the `allow` header says it.
pub const ALLOWED_METHODS: &str = "GET, HEAD";

/// A request that the contract serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    Hello,
    Value,
    Page(Page),
    /// To be read from the store.
    User(UserId),
}

/// Judges a request. `target` is the path as it came, undecoded, with or without a query string.
///
/// The order is part of the contract: what is wrong with the path's form, then its match, then the
/// method, then the id. Only a [`Route::User`] may reach the store.
pub fn route(method: &str, target: &str) -> Result<Route, Answer> {
    let path = match target.split_once('?') {
        Some((path, _query)) => path,
        None => target,
    };
    if path.contains('%') {
        return Err(Answer::invalid_path_parameter());
    }
    if path.contains("//") {
        return Err(Answer::not_found());
    }
    let known = Known::at(path).ok_or_else(Answer::not_found)?;
    if !matches!(method, "GET" | "HEAD") {
        return Err(Answer::method_not_allowed());
    }
    match known {
        Known::Fixed(route) => Ok(route),
        Known::User(id) => match id.parse() {
            Ok(id) => Ok(Route::User(id)),
            Err(_) => Err(Answer::invalid_path_parameter()),
        },
    }
}

/// A path that exists, before its method and its id are judged.
enum Known<'a> {
    Fixed(Route),
    User(&'a str),
}

impl<'a> Known<'a> {
    fn at(path: &'a str) -> Option<Self> {
        let path = path.strip_prefix('/')?;
        let mut segments = path.strip_suffix('/').unwrap_or(path).split('/');
        let found = match (segments.next()?, segments.next(), segments.next()) {
            ("", None, None) => Self::Fixed(Route::Page(Page::Home)),
            ("about", None, None) => Self::Fixed(Route::Page(Page::About)),
            ("contact", None, None) => Self::Fixed(Route::Page(Page::Contact)),
            ("helloWorld", None, None) => Self::Fixed(Route::Hello),
            ("users", Some(id), None) => Self::User(id),
            ("api", Some("values"), Some(_id)) => Self::Fixed(Route::Value),
            _ => return None,
        };
        segments.next().is_none().then_some(found)
    }
}
