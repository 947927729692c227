//! What the guests share: answer well on `/`, misbehave on `/bad`.

pub mod abuse;

pub use wasip3;
use wasip3::http::types::{ErrorCode, Fields, Request, Response};
use wasip3::{wit_bindgen, wit_future, wit_stream};

/// Exports `$handle`, an `async fn(Request) -> Result<Response, ErrorCode>`, as the component's handler.
#[macro_export]
macro_rules! guest {
    ($handle:path) => {
        struct Guest;
        impl $crate::wasip3::exports::http::handler::Guest for Guest {
            async fn handle(
                request: $crate::wasip3::http::types::Request,
            ) -> Result<
                $crate::wasip3::http::types::Response,
                $crate::wasip3::http::types::ErrorCode,
            > {
                $handle(request).await
            }
        }
        $crate::wasip3::http::service::export!(Guest with_types_in $crate::wasip3);
    };
}

pub type Answer = Result<Response, ErrorCode>;

/// Whether this request asks for the misbehaviour.
pub fn is_bad(request: &Request) -> bool {
    path(request).starts_with("/bad")
}

pub fn path(request: &Request) -> String {
    request.get_path_with_query().unwrap_or_default()
}

/// A whole answer in one piece.
pub fn text(status: u16, body: impl Into<Vec<u8>>) -> Answer {
    let body = body.into();
    let length = body.len();
    announce(status, Some(length), move |mut stream| async move {
        stream.write_all(body).await;
    })
}

/// An answer whose content-length says `length` and whose body is what `write` writes.
pub fn announce<F>(
    status: u16,
    length: Option<usize>,
    write: impl FnOnce(wit_bindgen::StreamWriter<u8>) -> F + 'static,
) -> Answer
where
    F: Future<Output = ()> + 'static,
{
    let headers = Fields::new();
    if let Some(length) = length {
        headers
            .append("content-length", length.to_string().as_bytes())
            .expect("a length is a valid header");
    }
    let (stream, contents) = wit_stream::new();
    let (done, trailers) = wit_future::new(|| Ok(None));
    let (response, _) = Response::new(headers, Some(contents), trailers);
    response.set_status_code(status).expect("a valid status");
    wit_bindgen::spawn(async move {
        write(stream).await;
        drop(done);
    });
    Ok(response)
}

/// A URL's scheme, authority and path.
pub fn split(url: &str) -> (&str, &str, &str) {
    let (scheme, rest) = url.split_once("://").unwrap_or(("http", url));
    let at = rest.find('/').unwrap_or(rest.len());
    let (authority, path) = rest.split_at(at);
    (scheme, authority, path)
}
