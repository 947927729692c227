//! `/.well-known/spin/*`: the host's own paths, which no route of the app can take.

use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Response, StatusCode};
use levelfield_app::App;

use crate::message::Body;

const PREFIX: &str = "/.well-known/spin/";

/// The answer if `path` is the host's own, for any method.
pub fn answer(app: &App, is_ready: bool, path: &str) -> Option<Response<Body>> {
    let name = path.strip_prefix(PREFIX)?;
    let text = |status: StatusCode, body: &'static str| {
        let mut response = Response::new(Body::Full(body.into()));
        *response.status_mut() = status;
        response
    };
    Some(match name {
        "health" => text(StatusCode::OK, "OK"),
        "ready" if is_ready => text(StatusCode::OK, "OK"),
        "ready" => text(StatusCode::SERVICE_UNAVAILABLE, "draining"),
        "info" => info(app),
        _ => text(StatusCode::NOT_FOUND, ""),
    })
}

fn info(app: &App) -> Response<Body> {
    let mut info = serde_json::Map::new();
    info.insert("name".into(), app.name.clone().into());
    if let Some(version) = &app.version {
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
