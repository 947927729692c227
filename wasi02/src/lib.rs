//! The contract as a WASI 0.2 component: the leanest adapter, on the bindings alone.
//!
//! It stands beside the 0.3 component in `src/` to show what 0.3 and its SDK cost on the same
//! logic, and it serves hosts that have no 0.3.

mod respond;
// What the settings mean does not depend on the version of WASI: one file serves both components.
#[path = "../../src/settings.rs"]
mod settings;
mod users;

use contract::{Answer, Route, route};
use wasip2::exports::http::incoming_handler::Guest;
use wasip2::http::types::{IncomingRequest, Method, ResponseOutparam};

struct Component;

wasip2::http::proxy::export!(Component);

impl Guest for Component {
    fn handle(request: IncomingRequest, response: ResponseOutparam) {
        respond::with(answer(&request), response);
    }
}

fn answer(request: &IncomingRequest) -> Answer {
    let target = request.path_with_query().unwrap_or_default();
    match route(name(&request.method()), &target) {
        Ok(Route::Hello) => Answer::hello(),
        Ok(Route::Value) => Answer::value(),
        Ok(Route::Page(page)) => Answer::page(page.render(settings::year())),
        Ok(Route::User(id)) => users::find(id),
        Err(refusal) => refusal,
    }
}

fn name(method: &Method) -> &str {
    match method {
        Method::Get => "GET",
        Method::Head => "HEAD",
        // None of the others is served; which one it is makes no difference.
        _ => "POST",
    }
}
