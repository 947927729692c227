//! Answers with an error code instead of a response.
use guests::{Answer, text, wasip3::http::types::{ErrorCode, Request}};

guests::guest!(handle);

async fn handle(request: Request) -> Answer {
    if guests::is_bad(&request) {
        return Err(ErrorCode::InternalError(Some("no wish to".into())));
    }
    text(200, "ok")
}
