//! Waits as many milliseconds as its path or query says, without computing.
use guests::{Answer, text, wasip3::http::types::Request};

guests::guest!(handle);

async fn handle(request: Request) -> Answer {
    let milliseconds: u64 = guests::path(&request)
        .rsplit(['/', '?'])
        .next()
        .unwrap_or_default()
        .parse()
        .unwrap_or(0);
    guests::wasip3::clocks::monotonic_clock::wait_for(milliseconds * 1_000_000).await;
    text(200, "ok")
}
