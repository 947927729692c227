//! Says how often this instance was called.
use std::sync::atomic::{AtomicU32, Ordering};

use guests::{Answer, text, wasip3::http::types::Request};

guests::guest!(handle);

static CALLS: AtomicU32 = AtomicU32::new(0);

async fn handle(_: Request) -> Answer {
    text(200, (CALLS.fetch_add(1, Ordering::Relaxed) + 1).to_string())
}
