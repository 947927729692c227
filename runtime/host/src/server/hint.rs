//! The one hint to a person who tries an app by hand: why their path is a 404, said once and only on a terminal.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};

/// Tells of the first path without a route.
#[derive(Debug)]
pub struct Hint {
    due: AtomicBool,
}

impl Hint {
    /// A hint for whoever reads this process's stderr, if that is a terminal.
    pub fn for_stderr() -> Self {
        Hint {
            due: AtomicBool::new(std::io::stderr().is_terminal()),
        }
    }

    /// A request for `path` was answered 404.
    pub fn no_route(&self, path: &str) {
        if self.due.load(Ordering::Relaxed) && self.due.swap(false, Ordering::Relaxed) {
            // Escaped: a path may hold what a terminal would obey.
            eprintln!(
                "hint: no route takes {}: 404; `levelfield-host routes` lists what there is (said once)",
                path.escape_default()
            );
        }
    }
}
