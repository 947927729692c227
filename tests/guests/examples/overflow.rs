//! Calls itself until the stack is full.
use guests::{Answer, text, wasip3::http::types::Request};

guests::guest!(handle);

fn deeper(depth: u64) -> u64 {
    if depth == u64::MAX {
        return 0;
    }
    let here = std::hint::black_box([depth; 64]);
    1 + deeper(depth + 1) + here[3]
}

async fn handle(request: Request) -> Answer {
    if guests::is_bad(&request) {
        return text(200, deeper(0).to_string());
    }
    text(200, "ok")
}
