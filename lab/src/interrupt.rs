//! Ctrl-C and SIGTERM: noticed at the next wait, so that everything started is stopped and the report still written.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

#[derive(Clone, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// From now on signals set it. A second signal ends the process at once: its children die with it.
    pub fn on_signals() -> Result<Self, ctrlc::Error> {
        let interrupt = Self::default();
        let set = interrupt.clone();
        ctrlc::set_handler(move || {
            if set.0.swap(true, Ordering::SeqCst) {
                std::process::exit(130);
            }
        })?;
        Ok(interrupt)
    }

    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}
