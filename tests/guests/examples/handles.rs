//! Takes handles and gives none back, until it may have no more.
use guests::{Answer, text, wasip3::http::types::{Fields, Request}};

guests::guest!(handle);

async fn handle(request: Request) -> Answer {
    if guests::is_bad(&request) {
        loop {
            std::mem::forget(Fields::new());
        }
    }
    text(200, "ok")
}
