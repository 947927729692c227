//! Sends the request's body back as it comes, without looking at it.
use guests::{Answer, wasip3::http::types::{Fields, Request, Response}};
use guests::wasip3::wit_future;

guests::guest!(handle);

async fn handle(request: Request) -> Answer {
    let (_, fate) = wit_future::new(|| Ok(()));
    let (body, trailers) = Request::consume_body(request, fate);
    let (response, _) = Response::new(Fields::new(), Some(body), trailers);
    Ok(response)
}
