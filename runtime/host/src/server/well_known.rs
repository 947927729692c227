//! `/.well-known/spin/*`: the host's own paths, which no route of the app can take.

use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Response, StatusCode};

use super::Service;
use crate::message::Body;

const PREFIX: &str = "/.well-known/spin/";

/// The answer if `path` is the host's own, for any method.
pub fn answer(service: &Service, path: &str) -> Option<Response<Body>> {
    let name = path.strip_prefix(PREFIX)?;
    let text = |status: StatusCode, body: &'static str| {
        let mut response = Response::new(Body::Full(body.into()));
        *response.status_mut() = status;
        response
    };
    Some(match name {
        "health" => text(StatusCode::OK, "OK"),
        "ready" if service.drain.is_ready() => text(StatusCode::OK, "OK"),
        "ready" => text(StatusCode::SERVICE_UNAVAILABLE, "draining"),
        "info" => info(service),
        _ => text(StatusCode::NOT_FOUND, ""),
    })
}

fn info(service: &Service) -> Response<Body> {
    let mut info = serde_json::Map::new();
    info.insert("name".into(), service.app.name.clone().into());
    if let Some(version) = &service.app.version {
        info.insert("version".into(), version.clone().into());
    }
    let mut response = Response::new(Body::Full(
        format!("{:#}", serde_json::Value::Object(info)).into(),
    ));
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
