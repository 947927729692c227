//! Computes and never comes back.
use guests::{Answer, text, wasip3::http::types::Request};

guests::guest!(handle);

async fn handle(request: Request) -> Answer {
    if guests::is_bad(&request) {
        let mut number = 1u64;
        loop {
            number = std::hint::black_box(number.wrapping_mul(3));
        }
    }
    text(200, "ok")
}
