//! Streams an event, stays quiet for as many milliseconds as its query says, and streams another.
use guests::{Answer, announce, text, wasip3::http::types::Request};

guests::guest!(handle);

async fn handle(request: Request) -> Answer {
    let path = guests::path(&request);
    let Some(milliseconds) = path.strip_prefix("/events?") else {
        return text(200, "ok");
    };
    let pause = milliseconds.parse::<u64>().expect("milliseconds") * 1_000_000;
    announce(200, None, move |mut body| async move {
        body.write_all(b"data: 1\n\n".to_vec()).await;
        guests::wasip3::clocks::monotonic_clock::wait_for(pause).await;
        body.write_all(b"data: 2\n\n".to_vec()).await;
    })
}
