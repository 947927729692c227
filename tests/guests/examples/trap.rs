//! Traps before it answers; on `/bad/wait` after others joined it.
use guests::{Answer, text, wasip3::http::types::Request};

guests::guest!(handle);

async fn handle(request: Request) -> Answer {
    if guests::path(&request).starts_with("/bad/wait") {
        guests::wasip3::clocks::monotonic_clock::wait_for(1_000_000_000).await;
    }
    if guests::path(&request).starts_with("/wait") {
        guests::wasip3::clocks::monotonic_clock::wait_for(4_000_000_000).await;
    }
    if guests::is_bad(&request) {
        panic!("a guest's bug");
    }
    text(200, "ok")
}
