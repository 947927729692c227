//! Takes memory until there is none.
use guests::{Answer, text, wasip3::http::types::Request};

guests::guest!(handle);

async fn handle(request: Request) -> Answer {
    if guests::is_bad(&request) {
        let mut kept = Vec::new();
        loop {
            kept.push(std::hint::black_box(vec![1u8; 1 << 20]));
        }
    }
    text(200, "ok")
}
