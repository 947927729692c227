//! Announces more than it sends: at once on `/bad`, after a pause on `/bad/late`.
use guests::{Answer, announce, text, wasip3::http::types::Request};

guests::guest!(handle);

async fn handle(request: Request) -> Answer {
    let late = guests::path(&request).starts_with("/bad/late");
    if guests::is_bad(&request) {
        return announce(200, Some(100), move |mut body| async move {
            body.write_all(b"short".to_vec()).await;
            if late {
                guests::wasip3::clocks::monotonic_clock::wait_for(100_000_000).await;
            }
        });
    }
    text(200, "ok")
}
