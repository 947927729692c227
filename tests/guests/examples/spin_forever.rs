//! Computes and never comes back.
use guests::{Answer, abuse, text, wasip3::http::types::Request};

guests::guest!(handle);

async fn handle(request: Request) -> Answer {
    if guests::is_bad(&request) {
        abuse::compute_forever();
    }
    text(200, "ok")
}
