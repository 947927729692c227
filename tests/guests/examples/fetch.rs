//! Asks the URL in the header `x-url` and passes the answer on, or says why there was none.
use guests::wasip3::http::types::{Fields, Request, Response, Scheme};
use guests::wasip3::{http::client, wit_future};
use guests::{Answer, text};

guests::guest!(handle);

async fn handle(request: Request) -> Answer {
    let url = request.get_headers().get("x-url");
    let Some(url) = url.first().map(|url| String::from_utf8_lossy(url).into_owned()) else {
        return text(200, "ok");
    };
    let (scheme, authority, path) = guests::split(&url);
    let path = request
        .get_headers()
        .get("x-path")
        .first()
        .map_or(path.to_owned(), |path| String::from_utf8_lossy(path).into_owned());

    let headers = Fields::new();
    for value in request.get_headers().get("x-content-length") {
        if headers.append("content-length", &value).is_err() {
            return text(200, "refused content-length");
        }
    }
    let (_, trailers) = wit_future::new(|| Ok(None));
    let (outbound, _) = Request::new(headers, None, trailers, None);
    let scheme = match scheme {
        "https" => Scheme::Https,
        _ => Scheme::Http,
    };
    if outbound.set_scheme(Some(&scheme)).is_err()
        || outbound.set_authority(Some(authority)).is_err()
    {
        return text(200, "refused authority");
    }
    if outbound.set_path_with_query(Some(&path)).is_err() {
        return text(200, "refused path");
    }
    match client::send(outbound).await {
        Ok(response) => {
            let status = response.get_status_code();
            let (_, fate) = wit_future::new(|| Ok(()));
            let (body, trailers) = Response::consume_body(response, fate);
            let (answer, _) = Response::new(Fields::new(), Some(body), trailers);
            answer.set_status_code(status).expect("a valid status");
            Ok(answer)
        }
        Err(error) => text(200, format!("{error:?}")),
    }
}
