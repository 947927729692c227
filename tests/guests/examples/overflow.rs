//! Calls itself until the stack is full.
use guests::{Answer, abuse, text, wasip3::http::types::Request};

guests::guest!(handle);

async fn handle(request: Request) -> Answer {
    if guests::is_bad(&request) {
        return text(200, abuse::fill_stack(0).to_string());
    }
    text(200, "ok")
}
