//! Takes memory until there is none.
use guests::{Answer, abuse, text, wasip3::http::types::Request};

guests::guest!(handle);

async fn handle(request: Request) -> Answer {
    if guests::is_bad(&request) {
        abuse::take_memory();
    }
    text(200, "ok")
}
