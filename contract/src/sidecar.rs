//! What a component needs to know of the sidecar: where it is, what to ask, what to make of the answer.

use std::borrow::Cow;
use std::fmt;

use crate::{Answer, JSON, UserId};

/// The environment variable that says where the sidecar is.
pub const SIDECAR_URL_VARIABLE: &str = "SIDECAR_URL";

/// Where the sidecar is when [`SIDECAR_URL_VARIABLE`] is not set.
pub const SIDECAR_URL_DEFAULT: &str = "http://127.0.0.1:8090";

/// The environment variable with the bearer token that the sidecar asks for, if it asks for one.
pub const SIDECAR_TOKEN_VARIABLE: &str = "SIDECAR_TOKEN";

/// How long a component waits for the sidecar, which itself gives up after 2 s.
pub const SIDECAR_PATIENCE: std::time::Duration = std::time::Duration::from_millis(2500);

/// The longest body taken from the sidecar: what MongoDB allows a document to be.
pub const SIDECAR_BODY_LIMIT: usize = 16 * 1024 * 1024;

/// A sidecar's address, split as a WASI HTTP request wants it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SidecarUrl {
    pub https: bool,
    pub authority: String,
    /// Put before the path of every request; without a trailing slash.
    base: String,
}

/// A value of [`SIDECAR_URL_VARIABLE`] that is no address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidSidecarUrl(String);

impl fmt::Display for InvalidSidecarUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{SIDECAR_URL_VARIABLE}={:?} is not like {SIDECAR_URL_DEFAULT}",
            self.0
        )
    }
}

impl std::error::Error for InvalidSidecarUrl {}

impl SidecarUrl {
    pub fn parse(url: &str) -> Result<Self, InvalidSidecarUrl> {
        let invalid = || InvalidSidecarUrl(url.to_owned());
        let (https, rest) = match url.split_once("://") {
            Some(("http", rest)) => (false, rest),
            Some(("https", rest)) => (true, rest),
            _ => return Err(invalid()),
        };
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let printable = |text: &str| text.bytes().all(|byte| byte.is_ascii_graphic());
        if authority.is_empty()
            || authority.contains(['@', '?', '#'])
            || path.contains(['?', '#'])
            || !printable(rest)
        {
            return Err(invalid());
        }
        Ok(Self {
            https,
            authority: authority.to_owned(),
            base: path.trim_end_matches('/').to_owned(),
        })
    }

    /// The path to ask for this user, always with GET.
    pub fn user_path(&self, id: UserId) -> String {
        format!("{}/users/{id}", self.base)
    }
}

/// Passes the sidecar's answer on, or says that the store is unavailable where that answer is none
/// of the contract's: a wrong token, another program at that address, a body cut short.
pub fn relay(id: UserId, status: u16, content_type: Option<&[u8]>, body: Vec<u8>) -> Answer {
    let expected = match status {
        200 => None,
        404 => Some(Answer::user_not_found()),
        500 => Some(Answer::user_malformed()),
        504 => Some(Answer::store_timed_out()),
        _ => return Answer::store_unavailable(),
    };
    if content_type != Some(JSON.as_bytes()) {
        return Answer::store_unavailable();
    }
    match (expected, String::from_utf8(body)) {
        (Some(answer), Ok(body)) if answer.body == body => answer,
        (None, Ok(body)) if is_user(id, &body) => Answer {
            body: Cow::Owned(body),
            ..Answer::hello()
        },
        _ => Answer::store_unavailable(),
    }
}

/// Whether a body begins and ends as this user's does; the rest of it is the sidecar's word.
fn is_user(id: UserId, body: &str) -> bool {
    body.strip_prefix("{\"Id\":")
        .and_then(|rest| rest.strip_prefix(id.to_string().as_str()))
        .is_some_and(|rest| rest.starts_with(",\"Name\":\"") && rest.ends_with("\"}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id() -> UserId {
        "1".parse().unwrap()
    }

    const USER: &str =
        r#"{"Id":1,"Name":"Arthur","Surname":"Morgan","Email":"ArthurMorgan@mail.com"}"#;

    fn relayed(status: u16, content_type: &str, body: &str) -> (u16, String) {
        let answer = relay(id(), status, Some(content_type.as_bytes()), body.into());
        (answer.status, answer.body.into_owned())
    }

    #[test]
    fn a_user_is_passed_on_byte_for_byte() {
        assert_eq!(relayed(200, JSON, USER), (200, USER.to_owned()));
    }

    #[test]
    fn the_contracts_errors_are_passed_on() {
        for answer in [
            Answer::user_not_found(),
            Answer::user_malformed(),
            Answer::store_unavailable(),
            Answer::store_timed_out(),
        ] {
            let passed = relay(
                id(),
                answer.status,
                Some(JSON.as_bytes()),
                answer.body.clone().into_owned().into_bytes(),
            );
            assert_eq!(passed, answer);
        }
    }

    #[test]
    fn anything_else_means_that_the_store_is_unavailable() {
        let unavailable = (503, Answer::store_unavailable().body.into_owned());
        for (status, content_type, body) in [
            (401, JSON, ""),
            (301, JSON, ""),
            (404, JSON, r#"{"message":"not found"}"#),
            (404, "text/html", r#"{"message":"user not found"}"#),
            (500, "text/plain", "oops"),
            (200, "text/html", USER),
            (200, JSON, ""),
            (200, JSON, "{}"),
            (
                200,
                JSON,
                r#"{"Id":2,"Name":"Sadie","Surname":"Adler","Email":"x"}"#,
            ),
            (200, JSON, r#"{"Id":1,"Name":"cut sho"#),
        ] {
            assert_eq!(
                relayed(status, content_type, body),
                unavailable,
                "{status} {body}"
            );
        }
        let not_text = relay(id(), 200, Some(JSON.as_bytes()), vec![0xff, 0xfe]);
        assert_eq!(not_text, Answer::store_unavailable());
        assert_eq!(
            relay(id(), 200, None, USER.into()),
            Answer::store_unavailable()
        );
    }

    #[test]
    fn an_address_is_split_into_its_parts() {
        for (url, https, authority, path) in [
            ("http://127.0.0.1:8090", false, "127.0.0.1:8090", "/users/1"),
            (
                "http://127.0.0.1:8090/",
                false,
                "127.0.0.1:8090",
                "/users/1",
            ),
            (
                "https://store.internal/a/b/",
                true,
                "store.internal",
                "/a/b/users/1",
            ),
            ("http://[::1]:8090", false, "[::1]:8090", "/users/1"),
        ] {
            let parsed = SidecarUrl::parse(url).unwrap();
            assert_eq!(
                (parsed.https, parsed.authority.as_str()),
                (https, authority)
            );
            assert_eq!(parsed.user_path(id()), path);
        }
    }

    #[test]
    fn what_is_no_address_is_refused_by_name() {
        for url in [
            "",
            "127.0.0.1:8090",
            "ftp://a",
            "http://",
            "http:///a",
            "http://a b",
            "http://a/?q",
            "http://u@h",
        ] {
            let refused = SidecarUrl::parse(url).unwrap_err().to_string();
            assert!(
                refused.contains("SIDECAR_URL") && refused.contains(url),
                "{refused}"
            );
        }
    }
}
