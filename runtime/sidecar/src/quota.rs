//! A bound on how often one kind of thing is logged, so that a store that fails a thousand times a
//! second does not fill a disk by saying so. What is left out is counted, and the count is said.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

/// How many lines of one kind may be written in a span of time.
const LINES: u32 = 5;
const SPAN: Duration = Duration::from_secs(5);

/// The lines of one kind.
#[derive(Debug, Clone, Default)]
pub struct Quota {
    span: Arc<Mutex<Span>>,
}

#[derive(Debug, Default)]
struct Span {
    ends: Option<Instant>,
    said: u32,
    unsaid: u64,
}

impl Quota {
    /// Whether one more line may be written now. If not, it is counted, and the end of the span
    /// says how many there were of `what`.
    pub fn allows(&self, what: &str) -> bool {
        let now = Instant::now();
        let mut span = self.span.lock().expect("no holder panics");
        // A count that is still to be said keeps its span open.
        if span.unsaid == 0 && span.ends.is_none_or(|ends| ends <= now) {
            *span = Span {
                ends: Some(now + SPAN),
                ..Span::default()
            };
        }
        if span.said < LINES {
            span.said += 1;
            return true;
        }
        span.unsaid += 1;
        if span.unsaid == 1 {
            self.say_the_rest_at(span.ends.unwrap_or(now), what.to_owned());
        }
        false
    }

    fn say_the_rest_at(&self, end: Instant, what: String) {
        let span = Arc::clone(&self.span);
        tokio::spawn(async move {
            sleep_until(end).await;
            let unsaid = std::mem::take(&mut *span.lock().expect("no holder panics")).unsaid;
            tracing::warn!("{what}: {unsaid} more in {SPAN:?}, not logged one by one");
        });
    }
}
