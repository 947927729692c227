//! Announces less than it sends.
use guests::{Answer, announce, text, wasip3::http::types::Request};

guests::guest!(handle);

async fn handle(request: Request) -> Answer {
    if guests::is_bad(&request) {
        return announce(200, Some(2), |mut body| async move {
            body.write_all(b"far too much".to_vec()).await;
        });
    }
    text(200, "ok")
}
