//! The users route: one question to the sidecar, and its answer passed on.

use std::sync::OnceLock;
use std::time::Duration;

use contract::{Answer, SIDECAR_BODY_LIMIT, SIDECAR_PATIENCE, UserId, relay};
use spin_sdk::wasip3::clocks::monotonic_clock;
use spin_sdk::wasip3::http::client;
use spin_sdk::wasip3::http::types::{ErrorCode, Fields, Request, RequestOptions, Response, Scheme};
use spin_sdk::wasip3::wit_bindgen::StreamResult;
use spin_sdk::wasip3::wit_future;

use crate::settings::{self, Sidecar};

/// Reads a user. A failure is logged here, once.
pub async fn find(id: UserId) -> Answer {
    let sidecar = match settings::sidecar() {
        Ok(sidecar) => sidecar,
        Err(invalid) => {
            eprintln!("user {id}: {invalid}");
            return Answer::store_unavailable();
        }
    };
    let failure = match ask(sidecar, id).await {
        Ok(answer) => return answer,
        Err(failure) => failure,
    };
    eprintln!(
        "user {id}: the sidecar at {}: {failure:?}",
        sidecar.url.authority
    );
    match failure {
        // It let the patience pass; every other failure means that it was not reached.
        ErrorCode::ConnectionTimeout
        | ErrorCode::HttpResponseTimeout
        | ErrorCode::ConnectionReadTimeout => Answer::store_timed_out(),
        _ => Answer::store_unavailable(),
    }
}

async fn ask(sidecar: &Sidecar, id: UserId) -> Result<Answer, ErrorCode> {
    let response = client::send(request(sidecar, id)?).await?;
    let status = response.get_status_code();
    let headers = response.get_headers();
    let content_type = headers.get("content-type").pop();
    let length = headers.get("content-length").pop();
    let length = length.and_then(|length| str::from_utf8(&length).ok()?.parse().ok());
    let body = read_body(response, length).await?;
    Ok(relay(id, status, content_type.as_deref(), body))
}

/// Always a GET: the host drops the body where the client asked with HEAD.
fn request(sidecar: &Sidecar, id: UserId) -> Result<Request, ErrorCode> {
    let headers = Fields::new();
    if let Some(authorization) = &sidecar.authorization {
        headers
            .set("authorization", &[authorization.as_bytes().to_vec()])
            .map_err(|error| ErrorCode::InternalError(Some(error.to_string())))?;
    }
    let (no_trailers, trailers) = wit_future::new(|| Ok(None));
    let (request, _sent) = Request::new(headers, None, trailers, Some(options()?));
    drop(no_trailers);
    let scheme = if sidecar.url.https {
        Scheme::Https
    } else {
        Scheme::Http
    };
    let invalid = |()| ErrorCode::HttpRequestUriInvalid;
    request.set_scheme(Some(&scheme)).map_err(invalid)?;
    request
        .set_authority(Some(&sidecar.url.authority))
        .map_err(invalid)?;
    request
        .set_path_with_query(Some(&sidecar.url.user_path(id)))
        .map_err(invalid)?;
    Ok(request)
}

/// The host keeps the time: [`SIDECAR_PATIENCE`] to connect, for the head, and for each part of the body. A timer of the
/// component's own would be set and called off with each request, and calling it off suspends the component once more.
fn options() -> Result<RequestOptions, ErrorCode> {
    static OPTIONS: OnceLock<RequestOptions> = OnceLock::new();
    if let Some(options) = OPTIONS.get() {
        return Ok(options.clone());
    }
    let patience = Some(nanoseconds(SIDECAR_PATIENCE));
    let options = RequestOptions::new();
    options
        .set_connect_timeout(patience)
        .and_then(|()| options.set_first_byte_timeout(patience))
        .and_then(|()| options.set_between_bytes_timeout(patience))
        .map_err(|error| ErrorCode::InternalError(Some(error.to_string())))?;
    Ok(OPTIONS.get_or_init(|| options).clone())
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// The whole body, bounded in size and time. Only without a `length` is it the future behind the stream that says whether
/// it is whole: to ask that one suspends the component once more.
async fn read_body(response: Response, length: Option<usize>) -> Result<Vec<u8>, ErrorCode> {
    const CHUNK: usize = 16 * 1024;
    let (all_well, done) = wit_future::new(|| Ok(()));
    let (mut contents, complete) = Response::consume_body(response, done);
    drop(all_well);
    let mut body = Vec::new();
    let mut waited_since = None;
    loop {
        let (result, chunk) = contents.read(Vec::with_capacity(CHUNK)).await;
        if body.is_empty() {
            body = chunk;
        } else {
            body.extend_from_slice(&chunk);
        }
        if body.len() > SIDECAR_BODY_LIMIT {
            return Err(ErrorCode::HttpResponseBodySize(Some(body.len() as u64)));
        }
        if length == Some(body.len()) {
            return Ok(body);
        }
        match result {
            StreamResult::Complete(_) => {
                let now = monotonic_clock::now();
                if now - *waited_since.get_or_insert(now) > nanoseconds(SIDECAR_PATIENCE) {
                    return Err(ErrorCode::ConnectionReadTimeout);
                }
            }
            StreamResult::Dropped => break,
            StreamResult::Cancelled => return Err(ErrorCode::HttpResponseIncomplete),
        }
    }
    complete.await?;
    match length {
        None => Ok(body),
        Some(_) => Err(ErrorCode::HttpResponseIncomplete),
    }
}
