//! The most telling behaviours as a WASI 0.2 component; the last segment of the path says which.
use std::sync::atomic::{AtomicU32, Ordering};

use guests::abuse;
use wasip2::clocks::monotonic_clock::subscribe_duration;
use wasip2::exports::http::incoming_handler::Guest;
use wasip2::http::outgoing_handler;
use wasip2::http::types::{
    Fields, IncomingBody, IncomingRequest, OutgoingBody, OutgoingRequest, OutgoingResponse,
    ResponseOutparam, Scheme,
};
use wasip2::io::streams::{OutputStream, StreamError};

struct Component;

wasip2::http::proxy::export!(Component);

static CALLS: AtomicU32 = AtomicU32::new(0);

impl Guest for Component {
    fn handle(request: IncomingRequest, out: ResponseOutparam) {
        let calls = CALLS.fetch_add(1, Ordering::Relaxed) + 1;
        let target = request.path_with_query().unwrap_or_default();
        let (path, argument) = target.split_once('?').unwrap_or((&target, ""));
        match path.rsplit('/').next().unwrap_or_default() {
            "trap" => panic!("a guest's bug"),
            "loop" => abuse::compute_forever(),
            "grow" => abuse::take_memory(),
            "overflow" => text(out, &abuse::fill_stack(0).to_string()),
            "silence" => {}
            "short" => Body::begin(out, Some(100)).whole("short"),
            "long" => Body::begin(out, Some(2)).whole("far too much"),
            "half" => {
                let body = Body::begin(out, None);
                let _ = body.write(b"half");
                wait(100);
                panic!("a guest's bug");
            }
            "endless" => {
                let body = Body::begin(out, None);
                while body.write(&[b'x'; 4096]).is_ok() {}
            }
            "slow" => {
                wait(argument.parse().expect("milliseconds"));
                text(out, "ok");
            }
            "events" => {
                let body = Body::begin(out, None);
                let _ = body.write(b"data: 1\n\n");
                wait(argument.parse().expect("milliseconds"));
                body.whole("data: 2\n\n");
            }
            "count" => text(out, &calls.to_string()),
            "fetch" => text(out, &fetch(&request)),
            _ => text(out, "ok"),
        }
    }
}

fn wait(milliseconds: u64) {
    subscribe_duration(milliseconds * 1_000_000).block();
}

fn text(out: ResponseOutparam, text: &str) {
    Body::begin(out, Some(text.len())).whole(text);
}

/// A body whose head was given already.
struct Body {
    stream: OutputStream,
    body: OutgoingBody,
}

impl Body {
    fn begin(out: ResponseOutparam, length: Option<usize>) -> Self {
        let headers = Fields::new();
        if let Some(length) = length {
            let length = length.to_string();
            headers
                .append("content-length", length.as_bytes())
                .expect("a length is a valid header");
        }
        let response = OutgoingResponse::new(headers);
        let body = response.body().expect("taken once");
        let stream = body.write().expect("taken once");
        ResponseOutparam::set(out, Ok(response));
        Body { stream, body }
    }

    fn write(&self, bytes: &[u8]) -> Result<(), StreamError> {
        self.stream.blocking_write_and_flush(bytes)
    }

    fn whole(self, text: &str) {
        // What becomes of it, the test sees from outside.
        let _ = self.write(text.as_bytes());
        drop(self.stream);
        let _ = OutgoingBody::finish(self.body, None);
    }
}

/// Asks the URL in the header `x-url`; says what was answered, or why nothing was.
fn fetch(request: &IncomingRequest) -> String {
    let asked = request.headers();
    let header = |name: &str| {
        let values = asked.get(name);
        values.first().map(|value| String::from_utf8_lossy(value).into_owned())
    };
    let url = header("x-url").unwrap_or_default();
    let (scheme, authority, path) = guests::split(&url);
    let path = header("x-path").unwrap_or(path.to_owned());
    let headers = Fields::new();
    for value in asked.get("x-content-length") {
        if headers.append("content-length", &value).is_err() {
            return "refused content-length".into();
        }
    }
    let outbound = OutgoingRequest::new(headers);
    let scheme = match scheme {
        "https" => Scheme::Https,
        _ => Scheme::Http,
    };
    if outbound.set_scheme(Some(&scheme)).is_err()
        || outbound.set_authority(Some(authority)).is_err()
    {
        return "refused authority".into();
    }
    if outbound.set_path_with_query(Some(&path)).is_err() {
        return "refused path".into();
    }
    let response = match outgoing_handler::handle(outbound, None) {
        Ok(response) => response,
        Err(error) => return format!("{error:?}"),
    };
    response.subscribe().block();
    match response.get().expect("ready").expect("taken once") {
        Ok(response) => read(response.consume().expect("taken once")),
        Err(error) => format!("{error:?}"),
    }
}

fn read(body: IncomingBody) -> String {
    let stream = body.stream().expect("taken once");
    let mut seen = Vec::new();
    loop {
        match stream.blocking_read(8192) {
            Ok(bytes) => seen.extend(bytes),
            Err(StreamError::Closed) => return String::from_utf8_lossy(&seen).into_owned(),
            Err(error) => return format!("{error:?}"),
        }
    }
}
