//! The component: a WASI 0.3 HTTP request in, an answer of the contract out.
//!
//! What a request means and what is answered is decided in the crate `contract`; here is only what
//! a WASI host and the contract do not share: how a request is read, a response written, the
//! sidecar asked and a setting found. The raw bindings that spin-sdk re-exports are used instead of
//! its `http` types, which would copy every header of every request.

mod respond;
mod settings;
mod users;

use contract::{Answer, Route, route};
use spin_sdk::wasip3::exports::http::handler::Guest;
use spin_sdk::wasip3::http::types::{ErrorCode, Method, Request, Response};

struct Component;

spin_sdk::wasip3::http::service::export!(Component with_types_in spin_sdk::wasip3);

impl Guest for Component {
    async fn handle(request: Request) -> Result<Response, ErrorCode> {
        respond::with(answer(&request).await).await
    }
}

async fn answer(request: &Request) -> Answer {
    // A request in absolute or asterisk form may have no path; `*` is none that the contract knows.
    let target = request.get_path_with_query().unwrap_or_default();
    match route(name(&request.get_method()), &target) {
        Ok(Route::Hello) => Answer::hello(),
        Ok(Route::Value) => Answer::value(),
        Ok(Route::Page(page)) => Answer::page(page.render(settings::year())),
        Ok(Route::User(id)) => users::find(id).await,
        Err(refusal) => refusal,
    }
}

fn name(method: &Method) -> &str {
    match method {
        Method::Get => "GET",
        Method::Head => "HEAD",
        Method::Other(name) => name,
        // None of the others is served; which one it is makes no difference.
        Method::Post
        | Method::Put
        | Method::Delete
        | Method::Connect
        | Method::Options
        | Method::Trace
        | Method::Patch => "POST",
    }
}
