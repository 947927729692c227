//! The users route: one question to the sidecar, and its answer passed on.

use contract::{Answer, SIDECAR_BODY_LIMIT, SIDECAR_PATIENCE, UserId, relay};
use wasip2::clocks::monotonic_clock;
use wasip2::http::outgoing_handler;
use wasip2::http::types::{
    ErrorCode, Fields, IncomingBody, IncomingResponse, OutgoingRequest, Scheme,
};
use wasip2::io::poll::{Pollable, poll};
use wasip2::io::streams::StreamError;

use crate::settings::{self, Sidecar};

/// Reads a user, within [`SIDECAR_PATIENCE`]. A failure is logged here, once.
pub fn find(id: UserId) -> Answer {
    let sidecar = match settings::sidecar() {
        Ok(sidecar) => sidecar,
        Err(invalid) => {
            eprintln!("user {id}: {invalid}");
            return Answer::store_unavailable();
        }
    };
    let failure = match ask(sidecar, id) {
        Ok(answer) => return answer,
        Err(failure) => failure,
    };
    eprintln!(
        "user {id}: the sidecar at {}: {failure:?}",
        sidecar.url.authority
    );
    match failure {
        // It was reached and did not answer; every other failure means that it was not reached.
        ErrorCode::HttpResponseTimeout | ErrorCode::ConnectionReadTimeout => {
            Answer::store_timed_out()
        }
        _ => Answer::store_unavailable(),
    }
}

fn ask(sidecar: &Sidecar, id: UserId) -> Result<Answer, ErrorCode> {
    let patience = u64::try_from(SIDECAR_PATIENCE.as_nanos()).unwrap_or(u64::MAX);
    let deadline = monotonic_clock::subscribe_duration(patience);
    let coming = outgoing_handler::handle(request(sidecar, id)?, None)?;
    wait(&coming.subscribe(), &deadline)?;
    // It is there now, and nobody has taken it before.
    let response = match coming.get() {
        Some(Ok(response)) => response?,
        None | Some(Err(())) => return Err(ErrorCode::HttpResponseIncomplete),
    };
    let status = response.status();
    let content_type = response.headers().get("content-type").pop();
    let body = read_body(&response, &deadline)?;
    Ok(relay(id, status, content_type.as_deref(), body))
}

/// Always a GET: the host drops the body where the client asked with HEAD.
fn request(sidecar: &Sidecar, id: UserId) -> Result<OutgoingRequest, ErrorCode> {
    let headers = Fields::new();
    if let Some(authorization) = &sidecar.authorization {
        headers
            .set("authorization", &[authorization.as_bytes().to_vec()])
            .map_err(|error| ErrorCode::InternalError(Some(error.to_string())))?;
    }
    let request = OutgoingRequest::new(headers);
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

/// The whole body, bounded in size and by the deadline.
fn read_body(response: &IncomingResponse, deadline: &Pollable) -> Result<Vec<u8>, ErrorCode> {
    const CHUNK: u64 = 64 * 1024;
    let incomplete = |()| ErrorCode::HttpResponseIncomplete;
    let incoming = response.consume().map_err(incomplete)?;
    let stream = incoming.stream().map_err(incomplete)?;
    let mut body = Vec::new();
    loop {
        match stream.read(CHUNK) {
            Ok(chunk) if chunk.is_empty() => wait(&stream.subscribe(), deadline)?,
            Ok(chunk) if body.is_empty() => body = chunk,
            Ok(chunk) => body.extend_from_slice(&chunk),
            Err(StreamError::Closed) => break,
            Err(StreamError::LastOperationFailed(_)) => {
                return Err(ErrorCode::HttpResponseIncomplete);
            }
        }
        if body.len() > SIDECAR_BODY_LIMIT {
            return Err(ErrorCode::HttpResponseBodySize(Some(body.len() as u64)));
        }
    }
    drop(stream);
    drop(IncomingBody::finish(incoming));
    Ok(body)
}

/// Blocks until `ready` is, and fails once the deadline has passed first.
fn wait(ready: &Pollable, deadline: &Pollable) -> Result<(), ErrorCode> {
    poll(&[ready, deadline])
        .contains(&0)
        .then_some(())
        .ok_or(ErrorCode::HttpResponseTimeout)
}
