//! An answer of the contract: status, headers and body, and the constructor of each.

use std::borrow::Cow;

use crate::{ALLOWED_METHODS, User};

/// The content type of every JSON body: no charset, since JSON is UTF-8 (RFC 8259).
pub const JSON: &str = "application/json";

/// A complete answer. Its `content-length` is the body's length in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    pub status: u16,
    pub content_type: &'static str,
    /// `retry-after` or `allow`, where the contract asks for one.
    pub extra_header: Option<(&'static str, &'static str)>,
    pub body: Cow<'static, str>,
}

impl Answer {
    pub const fn hello() -> Self {
        Self::json(200, r#"{"message":"Hello world!"}"#)
    }

    pub const fn value() -> Self {
        Self::fixed(200, "text/plain; charset=utf-8", "value")
    }

    pub fn page(html: String) -> Self {
        Self {
            body: Cow::Owned(html),
            ..Self::fixed(200, "text/html; charset=utf-8", "")
        }
    }

    pub fn user(user: &User<'_>) -> Self {
        Self {
            body: Cow::Owned(user.to_json()),
            ..Self::json(200, "")
        }
    }

    pub const fn user_not_found() -> Self {
        Self::json(404, r#"{"message":"user not found"}"#)
    }

    /// The stored document lacks a field or holds something else than a string in it.
    pub const fn user_malformed() -> Self {
        Self::json(500, r#"{"message":"user record is malformed"}"#)
    }

    /// No server reachable, or no room for one more request.
    pub const fn store_unavailable() -> Self {
        Self::json(503, r#"{"message":"users store unavailable"}"#).with("retry-after", "1")
    }

    /// The server was reached and stayed silent.
    pub const fn store_timed_out() -> Self {
        Self::json(504, r#"{"message":"users store timed out"}"#)
    }

    pub const fn invalid_path_parameter() -> Self {
        Self::json(400, r#"{"message":"invalid path parameter"}"#)
    }

    pub const fn not_found() -> Self {
        Self::json(404, r#"{"message":"not found"}"#)
    }

    pub const fn method_not_allowed() -> Self {
        Self::json(405, r#"{"message":"method not allowed"}"#).with("allow", ALLOWED_METHODS)
    }

    const fn json(status: u16, body: &'static str) -> Self {
        Self::fixed(status, JSON, body)
    }

    const fn fixed(status: u16, content_type: &'static str, body: &'static str) -> Self {
        Self {
            status,
            content_type,
            extra_header: None,
            body: Cow::Borrowed(body),
        }
    }

    const fn with(mut self, name: &'static str, value: &'static str) -> Self {
        self.extra_header = Some((name, value));
        self
    }
}
