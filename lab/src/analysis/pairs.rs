//! The counted trials of two targets, paired by block: what drifts over a run is common to both sides of a pair.

use std::collections::BTreeMap;

use crate::metric::Metric;
use crate::results::{Comparison, Outcome, Results, Trial};
use crate::stats::interval::Bootstrap;
use crate::stats::pooled::{Curve, Pool};
use crate::stats::quantile;

pub struct Pairs<'a> {
    metric: Metric,
    /// Target's and baseline's trial of each block that has both.
    pairs: Vec<(&'a Trial, &'a Trial)>,
}

impl<'a> Pairs<'a> {
    pub fn of(
        results: &'a Results,
        profile: &str,
        scenario: &str,
        comparison: &Comparison,
        metric: Metric,
    ) -> Pairs<'a> {
        let by_block = |target: &str| -> BTreeMap<u32, &'a Trial> {
            results
                .trials
                .iter()
                .filter(|trial| trial.outcome == Outcome::Counted)
                .filter(|trial| {
                    (
                        trial.profile.as_str(),
                        trial.scenario.as_str(),
                        trial.target.as_str(),
                    ) == (profile, scenario, target)
                })
                // A tail is pooled: a trial too short to carry p99 alone still adds its requests.
                .filter(|trial| match metric {
                    Metric::P99 => latency_curve(trial).is_some(),
                    _ => metric.of(trial).is_some(),
                })
                .map(|trial| (trial.block, trial))
                .collect()
        };
        let baselines = by_block(&comparison.baseline);
        let pairs = by_block(&comparison.target)
            .into_iter()
            .filter_map(|(block, trial)| Some((trial, *baselines.get(&block)?)))
            .collect();
        Pairs { metric, pairs }
    }

    pub fn blocks(&self) -> usize {
        self.pairs.len()
    }

    /// Of the logarithm of the ratio.
    pub fn bootstrap(&self, seed: u64) -> Option<Bootstrap> {
        if self.metric == Metric::P99 {
            self.pooled_tail(0.99, seed)
        } else {
            self.mean(seed)
        }
    }

    fn mean(&self, seed: u64) -> Option<Bootstrap> {
        let log_ratios: Option<Vec<f64>> = self
            .pairs
            .iter()
            .map(|(a, b)| Some((self.metric.of(a)? / self.metric.of(b)?).ln()))
            .collect();
        Bootstrap::of_mean(&log_ratios?, seed)
    }

    fn pooled_tail(&self, p: f64, seed: u64) -> Option<Bootstrap> {
        let pool = |pick: fn(&(&'a Trial, &'a Trial)) -> &'a Trial| -> Option<Pool> {
            let curves: Vec<Curve> = self
                .pairs
                .iter()
                .filter_map(|pair| latency_curve(pick(pair)))
                .collect();
            let n: f64 = curves.iter().map(Curve::n).sum();
            quantile::carries(n as u64, p).then(|| Pool::new(&curves.iter().collect::<Vec<_>>()))?
        };
        let (target, baseline) = (pool(|pair| pair.0)?, pool(|pair| pair.1)?);
        Bootstrap::of(self.pairs.len(), seed, |chosen| {
            (target.quantile(chosen, p) / baseline.quantile(chosen, p)).ln()
        })
    }

    /// Mean over the paired trials, of target and baseline; None where a generator does not count bytes.
    pub fn bytes_per_answer(&self) -> Option<(f64, f64)> {
        let mean = |pick: fn(&(&'a Trial, &'a Trial)) -> &'a Trial| {
            let mut bytes = 0.0;
            let mut answers = 0.0;
            for figures in self
                .pairs
                .iter()
                .filter_map(|pair| pick(pair).figures.as_ref())
            {
                bytes += figures.bytes_received? as f64;
                answers += figures.completed as f64;
            }
            (answers > 0.0 && bytes > 0.0).then_some(bytes / answers)
        };
        Some((mean(|pair| pair.0)?, mean(|pair| pair.1)?))
    }
}

fn latency_curve(trial: &Trial) -> Option<Curve> {
    let latency = trial.figures.as_ref()?.latency.as_ref()?;
    (latency.n > 0 && latency.min_ms > 0.0).then(|| latency.curve())
}
