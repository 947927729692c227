//! Every limit of the host in one place, with its default.

use std::sync::Arc;
use std::time::Duration;

use wasmtime::ResourceLimiter;

use crate::instance::Shared;

/// What a host holds its guests and clients to.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Instances alive at a time, over all cores and components.
    pub instances: usize,
    /// All linear memory and tables of one instance, in bytes.
    pub instance_memory: usize,
    /// Calls in one instance's life.
    pub instance_reuse: Range,
    /// The same for WASI 0.2, whose components may not expect to be called twice.
    pub p2_instance_reuse: Range,
    /// Calls at a time in one instance; always one for WASI 0.2.
    pub instance_concurrency: Range,
    /// How long an instance may wait unused.
    pub instance_idle: Duration,
    /// Requests that guests work on at a time, over all cores.
    pub concurrent_requests: usize,
    /// Requests that wait for room, over all cores.
    pub queue: usize,
    /// From the request's head to the response's head.
    pub request_time: Duration,
    /// Bytes of a request's body.
    pub request_body: u64,
    /// Bytes of a request's head.
    pub request_head: usize,
    /// Bytes of a request's path and query.
    pub path: usize,
    /// How long a client may take for a head, and pause within a body.
    pub client_pause: Duration,
    /// Outbound connections to one host, over all cores.
    pub outbound_connections: usize,
    pub outbound_connect: Duration,
    pub outbound_first_byte: Duration,
    pub outbound_between_bytes: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            instances: 1000,
            instance_memory: 256 << 20,
            instance_reuse: Range::exactly(128),
            p2_instance_reuse: Range::exactly(1),
            instance_concurrency: Range::exactly(16),
            instance_idle: Duration::from_secs(1),
            concurrent_requests: 1000,
            queue: 2000,
            request_time: Duration::from_secs(30),
            request_body: 32 << 20,
            request_head: 64 << 10,
            path: 16 << 10,
            client_pause: Duration::from_secs(30),
            outbound_connections: 512,
            outbound_connect: Duration::from_secs(10),
            outbound_first_byte: Duration::from_secs(60),
            outbound_between_bytes: Duration::from_secs(60),
        }
    }
}

/// A number, or a range that one is drawn from for each instance so that they do not all retire at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    pub low: u32,
    /// Not included.
    pub high: u32,
}

impl Range {
    pub const fn exactly(number: u32) -> Self {
        Range {
            low: number,
            high: number + 1,
        }
    }

    /// One number of the range, chosen by `seed`.
    pub fn draw(self, seed: u64) -> u32 {
        // Multiplication by a large odd constant spreads consecutive seeds.
        let spread = (seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33) as u32;
        self.low + spread % (self.high - self.low).max(1)
    }
}

impl std::str::FromStr for Range {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| match text.parse::<u32>() {
            Ok(0) | Err(_) => Err(format!("`{text}` is not a number of 1 or more")),
            Ok(u32::MAX) => Err(format!("`{text}` is too large")),
            Ok(number) => Ok(number),
        };
        let Some((low, high)) = text.split_once("..") else {
            return number(text).map(Range::exactly);
        };
        let range = Range {
            low: number(low)?,
            high: number(high)?,
        };
        if range.low >= range.high {
            return Err(format!("`{text}` is empty; the end is not included"));
        }
        Ok(range)
    }
}

/// Counts everything that one instance has grown to, over all its memories and tables.
pub struct MemoryLimit {
    used: usize,
    limit: usize,
    component: Arc<str>,
    shared: Arc<Shared>,
    told: bool,
}

/// What one table element costs.
const TABLE_ELEMENT: usize = 8;

impl MemoryLimit {
    pub fn new(limit: usize, component: Arc<str>, shared: Arc<Shared>) -> Self {
        MemoryLimit {
            used: 0,
            limit,
            component,
            shared,
            told: false,
        }
    }

    fn grow(&mut self, by: usize) -> bool {
        let used = self.used.saturating_add(by);
        if used <= self.limit {
            self.used = used;
            return true;
        }
        if !self.told {
            self.told = true;
            self.shared.set_memory_denied();
            tracing::warn!(
                component = %self.component,
                limit = self.limit,
                "an instance wanted more memory than --max-instance-memory allows"
            );
        }
        false
    }
}

impl ResourceLimiter for MemoryLimit {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        _: Option<usize>,
    ) -> wasmtime::Result<bool> {
        Ok(self.grow(desired.saturating_sub(current)))
    }

    fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        _: Option<usize>,
    ) -> wasmtime::Result<bool> {
        Ok(self.grow(
            desired
                .saturating_sub(current)
                .saturating_mul(TABLE_ELEMENT),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_a_number_or_two() {
        assert_eq!("16".parse(), Ok(Range::exactly(16)));
        assert_eq!("2..5".parse(), Ok(Range { low: 2, high: 5 }));
        for bad in ["", "0", "x", "5..5", "5..2", "1..", "-1"] {
            assert!(bad.parse::<Range>().is_err(), "{bad}");
        }
        let range = Range { low: 2, high: 5 };
        assert!((0..100).all(|seed| (2..5).contains(&range.draw(seed))));
    }

    #[test]
    fn memory_counts_over_all_memories() {
        let mut limit = MemoryLimit::new(100, "x".into(), Arc::default());
        assert!(limit.memory_growing(0, 60, None).unwrap());
        assert!(!limit.memory_growing(0, 60, None).unwrap());
        assert!(limit.memory_growing(60, 100, None).unwrap());
        assert!(!limit.table_growing(0, 1, None).unwrap());
    }
}
