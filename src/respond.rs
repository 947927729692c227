//! From an answer of the contract to a WASI 0.3 response.

use contract::Answer;
use futures::poll;
use spin_sdk::wasip3::http::types::{ErrorCode, Fields, Response};
use spin_sdk::wasip3::{wit_bindgen, wit_future, wit_stream};

/// Always with a content-length: without one a host has to send chunks, in more writes.
pub async fn with(answer: Answer) -> Result<Response, ErrorCode> {
    let mut headers = vec![
        ("content-type".to_owned(), answer.content_type.into()),
        (
            "content-length".to_owned(),
            answer.body.len().to_string().into(),
        ),
    ];
    if let Some((name, value)) = answer.extra_header {
        headers.push((name.to_owned(), value.into()));
    }
    let headers = Fields::from_list(&headers).map_err(internal)?;

    let (mut body, contents) = wit_stream::new();
    let (no_trailers, trailers) = wit_future::new(|| Ok(None));
    let (response, _sent) = Response::new(headers, Some(contents), trailers);
    // Told by being dropped, and only now: a host that listens since `new` hears it at once, where an earlier word
    // would have to wait for its listener and wake this component once more.
    drop(no_trailers);
    // A new response is a 200 already.
    if answer.status != 200 {
        response
            .set_status_code(answer.status)
            .map_err(|()| internal("the host refused the status code"))?;
    }
    let mut written = Box::pin(async move {
        // What is left over belongs to a client that has gone away.
        let _unread = body.write_all(answer.body.into_owned().into_bytes()).await;
    });
    // A host that reads at once needs no task beside this one.
    if poll!(&mut written).is_pending() {
        wit_bindgen::spawn(written);
    }
    Ok(response)
}

fn internal(what: impl ToString) -> ErrorCode {
    ErrorCode::InternalError(Some(what.to_string()))
}
