//! What is read off a trial and compared: one number per trial, with its unit, direction and name.

use crate::results::{Figures, ProfileKind, Trial};
use crate::stats::quantile;
use crate::stats::verdict::{Direction, MIN_BLOCKS, MIN_BLOCKS_TAIL, Verdict};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Metric {
    CpuPerRequest,
    P50,
    P99,
    Capacity,
    ColdStart,
    PeakMemory,
}

impl Metric {
    /// The metrics that a profile may be judged by. The two originals are shown as published and judged by none: a
    /// quota and a saturated closed loop are no ground for a claim.
    pub fn judged(kind: ProfileKind) -> &'static [Metric] {
        match kind {
            ProfileKind::OriginalK6 | ProfileKind::OriginalClosed => &[],
            ProfileKind::FixedRate => &[
                Metric::CpuPerRequest,
                Metric::P50,
                Metric::P99,
                Metric::PeakMemory,
            ],
            ProfileKind::Capacity => &[Metric::Capacity],
            ProfileKind::ColdStart => &[Metric::ColdStart],
            ProfileKind::Soak => &[Metric::PeakMemory],
        }
    }

    pub fn title(self) -> &'static str {
        match self {
            Metric::CpuPerRequest => "CPU per request",
            Metric::P50 => "p50 latency",
            Metric::P99 => "p99 latency",
            Metric::Capacity => "capacity",
            Metric::ColdStart => "cold start",
            Metric::PeakMemory => "peak memory",
        }
    }

    /// For machines: benchmark names in Bencher's JSON, columns of the CSV.
    pub fn slug(self) -> &'static str {
        match self {
            Metric::CpuPerRequest => "cpu-per-request-us",
            Metric::P50 => "latency-p50-ms",
            Metric::P99 => "latency-p99-ms",
            Metric::Capacity => "capacity-per-second",
            Metric::ColdStart => "cold-start-ms",
            Metric::PeakMemory => "peak-memory-mb",
        }
    }

    pub fn unit(self) -> &'static str {
        match self {
            Metric::CpuPerRequest => "µs",
            Metric::P50 | Metric::P99 | Metric::ColdStart => "ms",
            Metric::Capacity => "req/s",
            Metric::PeakMemory => "MB",
        }
    }

    pub fn direction(self) -> Direction {
        match self {
            Metric::Capacity => Direction::HigherIsBetter,
            _ => Direction::LowerIsBetter,
        }
    }

    pub fn min_blocks(self) -> usize {
        match self {
            Metric::P99 => MIN_BLOCKS_TAIL,
            _ => MIN_BLOCKS,
        }
    }

    /// The verdict's word, said of the target: "the component is slower".
    pub fn word(self, verdict: Verdict) -> &'static str {
        match (verdict, self) {
            (Verdict::Equivalent, _) => "equivalent",
            (Verdict::Inconclusive, _) => "inconclusive",
            (Verdict::Better, Metric::CpuPerRequest | Metric::PeakMemory) => "uses less",
            (Verdict::Worse, Metric::CpuPerRequest | Metric::PeakMemory) => "uses more",
            (Verdict::Better, Metric::Capacity) => "carries more",
            (Verdict::Worse, Metric::Capacity) => "carries less",
            (Verdict::Better, _) => "faster",
            (Verdict::Worse, _) => "slower",
        }
    }

    /// The trial's number in [`unit`](Metric::unit); None where the trial did not measure it, its sample cannot carry
    /// it, or it is not a positive number (which has no ratio).
    pub fn of(self, trial: &Trial) -> Option<f64> {
        let figures = trial.figures.as_ref()?;
        let server = figures.server.unwrap_or_default();
        let value = match self {
            Metric::CpuPerRequest => {
                let requests = figures.completed + figures.errors.values().sum::<u64>();
                server.cpu_seconds? * 1e6 / requests as f64
            }
            Metric::P50 => figures.latency.as_ref()?.percentile(0.50)?,
            Metric::P99 => figures.latency.as_ref()?.percentile(0.99)?,
            Metric::Capacity => figures.capacity(),
            Metric::ColdStart => quantile::median(&figures.cold_start.as_ref()?.spawns_ms)?,
            Metric::PeakMemory => server.peak_rss_bytes? as f64 / 1e6,
        };
        (value.is_finite() && value > 0.0).then_some(value)
    }
}

impl crate::results::Latency {
    /// A quantile that this sample carries; None where fewer than ten observations lie beyond it.
    pub fn percentile(&self, p: f64) -> Option<f64> {
        quantile::carries(self.n, p).then(|| self.curve().quantile(p))
    }

    pub fn curve(&self) -> crate::stats::pooled::Curve {
        let quantiles: Vec<(f64, f64)> = self.quantiles.iter().map(|q| (q.p, q.ms)).collect();
        crate::stats::pooled::Curve::new(self.n, self.min_ms, &quantiles, self.max_ms)
    }
}

impl Figures {
    /// The highest rate that the ladder's passed rungs reached; 0 where none passed.
    pub fn capacity(&self) -> f64 {
        self.ladder
            .iter()
            .filter(|step| step.passed)
            .map(|step| step.rate)
            .fold(0.0, f64::max)
    }
}
