//! An answer: status, headers, body. It is made once and cheap to clone.

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{Response, StatusCode};

const JSON: HeaderValue = HeaderValue::from_static("application/json");

#[derive(Debug, Clone)]
pub struct Answer {
    pub status: StatusCode,
    content_type: Option<HeaderValue>,
    /// `retry-after`, `allow` or `connection`, where there is one.
    extra: Option<(HeaderName, HeaderValue)>,
    pub body: Bytes,
}

impl Answer {
    /// 200 with JSON that a query made.
    pub fn found(json: Vec<u8>) -> Self {
        Self {
            status: StatusCode::OK,
            content_type: Some(JSON),
            extra: None,
            body: json.into(),
        }
    }

    /// `{"message": …}` with a status that exists.
    pub fn message(status: u16, message: &str) -> Self {
        let mut body = b"{\"message\":".to_vec();
        crate::json::string(&mut body, message);
        body.push(b'}');
        let status = StatusCode::from_u16(status).expect("a status of three digits");
        Self {
            status,
            ..Self::found(body)
        }
    }

    /// A status and nothing else.
    pub fn bare(status: StatusCode) -> Self {
        Self {
            status,
            content_type: None,
            extra: None,
            body: Bytes::new(),
        }
    }

    pub fn text(content_type: &'static str, body: String) -> Self {
        Self {
            content_type: Some(HeaderValue::from_static(content_type)),
            ..Self::found(body.into())
        }
    }

    pub fn with(mut self, name: &'static str, value: &'static str) -> Self {
        self.extra = Some((
            HeaderName::from_static(name),
            HeaderValue::from_static(value),
        ));
        self
    }
}

impl From<Answer> for Response<Full<Bytes>> {
    /// The server writes the exact `content-length` of a full body.
    fn from(answer: Answer) -> Self {
        let mut response = Self::new(Full::new(answer.body));
        *response.status_mut() = answer.status;
        let headers = response.headers_mut();
        if let Some(content_type) = answer.content_type {
            headers.insert(CONTENT_TYPE, content_type);
        }
        if let Some((name, value)) = answer.extra {
            headers.insert(name, value);
        }
        response
    }
}
