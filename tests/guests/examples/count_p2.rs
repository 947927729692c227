//! WASI 0.2, and as a core module preview 1: says how often this instance was called, and with what environment.
use std::sync::atomic::{AtomicU32, Ordering};

use wasip2::exports::http::incoming_handler::Guest;
use wasip2::http::types::{
    Fields, IncomingRequest, OutgoingBody, OutgoingResponse, ResponseOutparam,
};

struct Component;

wasip2::http::proxy::export!(Component);

static CALLS: AtomicU32 = AtomicU32::new(0);

impl Guest for Component {
    fn handle(_: IncomingRequest, out: ResponseOutparam) {
        let calls = CALLS.fetch_add(1, Ordering::Relaxed) + 1;
        let colour = std::env::var("COLOUR").unwrap_or_default();
        println!("counted on stdout");
        let response = OutgoingResponse::new(Fields::new());
        let body = response.body().expect("asked once");
        ResponseOutparam::set(out, Ok(response));
        let stream = body.write().expect("asked once");
        stream
            .blocking_write_and_flush(format!("{calls}{colour}").as_bytes())
            .expect("the client is there");
        drop(stream);
        OutgoingBody::finish(body, None).expect("no length was announced");
    }
}
