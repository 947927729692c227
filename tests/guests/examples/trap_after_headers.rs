//! Traps in the middle of a body that the client already reads.
use guests::{Answer, announce, text, wasip3::http::types::Request};

guests::guest!(handle);

async fn handle(request: Request) -> Answer {
    if guests::is_bad(&request) {
        return announce(200, None, |mut body| async move {
            body.write_all(b"half".to_vec()).await;
            guests::wasip3::clocks::monotonic_clock::wait_for(100_000_000).await;
            panic!("a guest's bug");
        });
    }
    text(200, "ok")
}
