//! The users route: one question to the sidecar, and its answer passed on.

use std::pin::pin;

use contract::{Answer, SIDECAR_BODY_LIMIT, SIDECAR_PATIENCE, UserId, relay};
use futures::future::{Either, select};
use spin_sdk::wasip3::clocks::monotonic_clock;
use spin_sdk::wasip3::http::client;
use spin_sdk::wasip3::http::types::{ErrorCode, Fields, Request, RequestOptions, Response, Scheme};
use spin_sdk::wasip3::wit_bindgen::StreamResult;
use spin_sdk::wasip3::wit_future;

use crate::settings::{self, Sidecar};

/// Reads a user, within [`SIDECAR_PATIENCE`]. A failure is logged here, once.
pub async fn find(id: UserId) -> Answer {
    let sidecar = match settings::sidecar() {
        Ok(sidecar) => sidecar,
        Err(invalid) => {
            eprintln!("user {id}: {invalid}");
            return Answer::store_unavailable();
        }
    };
    let patience = u64::try_from(SIDECAR_PATIENCE.as_nanos()).unwrap_or(u64::MAX);
    let asked = pin!(ask(sidecar, id));
    let waited = pin!(monotonic_clock::wait_for(patience));
    let failure = match select(asked, waited).await {
        Either::Left((Ok(answer), _)) => return answer,
        Either::Left((Err(failure), _)) => failure,
        Either::Right(((), _)) => ErrorCode::HttpResponseTimeout,
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

async fn ask(sidecar: &Sidecar, id: UserId) -> Result<Answer, ErrorCode> {
    let response = client::send(request(sidecar, id)?).await?;
    let status = response.get_status_code();
    let content_type = response.get_headers().get("content-type").pop();
    let body = read_body(response).await?;
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
    let (request, _sent) = Request::new(headers, None, trailers, None::<RequestOptions>);
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

/// The whole body, bounded. A body cut short is an error, said by the future behind the stream.
async fn read_body(response: Response) -> Result<Vec<u8>, ErrorCode> {
    const CHUNK: usize = 16 * 1024;
    let (_, done) = wit_future::new(|| Ok(()));
    let (mut contents, complete) = Response::consume_body(response, done);
    let mut body = Vec::new();
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
        match result {
            StreamResult::Complete(_) => {}
            StreamResult::Dropped => break,
            StreamResult::Cancelled => return Err(ErrorCode::HttpResponseIncomplete),
        }
    }
    complete.await.map(|_trailers| body)
}
