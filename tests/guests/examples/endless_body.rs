//! Sends a body that has no end; on `/bad/silent` one that stops without ending.
use guests::{Answer, announce, text, wasip3::http::types::Request};

guests::guest!(handle);

async fn handle(request: Request) -> Answer {
    let silent = guests::path(&request).starts_with("/bad/silent");
    if guests::is_bad(&request) {
        return announce(200, None, move |mut body| async move {
            loop {
                if !body.write_all(vec![b'x'; 8192]).await.is_empty() {
                    return;
                }
                if silent {
                    guests::wasip3::clocks::monotonic_clock::wait_for(3_600_000_000_000).await;
                }
            }
        });
    }
    text(200, "ok")
}
