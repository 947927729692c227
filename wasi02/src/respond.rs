//! From an answer of the contract to a WASI 0.2 response.

use contract::Answer;
use wasip2::http::types::{ErrorCode, Fields, OutgoingBody, OutgoingResponse, ResponseOutparam};
use wasip2::io::streams::{OutputStream, StreamError};

pub fn with(answer: Answer, out: ResponseOutparam) {
    match response(&answer) {
        Err(refused) => ResponseOutparam::set(out, Err(ErrorCode::InternalError(Some(refused)))),
        Ok((response, body)) => {
            ResponseOutparam::set(out, Ok(response));
            // A failed write means that the client has gone away: nobody is left to be told.
            if write(&body, answer.body.as_bytes()).is_ok() {
                let _ = OutgoingBody::finish(body, None);
            }
        }
    }
}

fn response(answer: &Answer) -> Result<(OutgoingResponse, OutgoingBody), String> {
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
    let headers = Fields::from_list(&headers).map_err(|error| error.to_string())?;
    let response = OutgoingResponse::new(headers);
    let taken = |()| "the host refused the response".to_owned();
    // A new response is a 200 already.
    if answer.status != 200 {
        response.set_status_code(answer.status).map_err(taken)?;
    }
    let body = response.body().map_err(taken)?;
    Ok((response, body))
}

/// What WASI lets `blocking_write_and_flush` take in one call.
const ONE_CALL: usize = 4096;

fn write(body: &OutgoingBody, mut bytes: &[u8]) -> Result<(), StreamError> {
    let stream = body.write().map_err(|()| StreamError::Closed)?;
    if bytes.len() <= ONE_CALL {
        return stream.blocking_write_and_flush(bytes);
    }
    while !bytes.is_empty() {
        let room = wait_for_room(&stream)?;
        let (now, later) = bytes.split_at(room.min(bytes.len()));
        stream.write(now)?;
        bytes = later;
    }
    Ok(())
}

fn wait_for_room(stream: &OutputStream) -> Result<usize, StreamError> {
    loop {
        match stream.check_write()? {
            0 => stream.subscribe().block(),
            room => return Ok(usize::try_from(room).unwrap_or(usize::MAX)),
        }
    }
}
