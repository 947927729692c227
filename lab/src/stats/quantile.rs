//! Quantiles of a sample, and the rule for which of them a sample can carry.

/// The least number of observations beyond a percentile for it to be printed.
pub const OBSERVATIONS_BEYOND: f64 = 10.0;

/// Whether `n` observations carry the quantile `p`: `n * (1 - p)` is ten or more.
pub fn carries(n: u64, p: f64) -> bool {
    // The small allowance keeps 1000 * (1 - 0.99) from failing by a rounding error.
    n as f64 * (1.0 - p).min(0.5) >= OBSERVATIONS_BEYOND - 1e-6
}

/// The quantile `p` of an ascending sample, interpolated linearly between order statistics (type 7 of Hyndman and
/// Fan 1996, which numpy and k6 use). None of an empty sample.
pub fn of_sorted(sorted: &[f64], p: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let rank = p.clamp(0.0, 1.0) * last as f64;
    let below = rank.floor() as usize;
    let above = (below + 1).min(last);
    Some(sorted[below] + (sorted[above] - sorted[below]) * (rank - below as f64))
}

pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    of_sorted(&sorted, 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_needs_ten_observations_beyond_it() {
        assert!(carries(1000, 0.99) && !carries(999, 0.99));
        assert!(carries(100, 0.90) && !carries(100, 0.95));
        assert!(carries(10_000, 0.999) && !carries(1_000, 0.999));
        assert!(carries(20, 0.5) && !carries(19, 0.5));
    }

    #[test]
    fn quantiles_are_numpys() {
        // numpy.percentile([3, 1, 4, 1, 5, 9, 2, 6], [10, 50, 95]) = [1.0, 3.5, 7.95]
        let sorted = [1.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 9.0];
        for (p, expected) in [(0.10, 1.0), (0.50, 3.5), (0.95, 7.95)] {
            let got = of_sorted(&sorted, p).unwrap();
            assert!((got - expected).abs() < 1e-12, "p{p}: {got}");
        }
        assert_eq!(of_sorted(&[], 0.5), None);
        assert_eq!(median(&[2.0, 9.0, 1.0]), Some(2.0));
    }
}
