//! Quantiles of several trials' requests taken together, from each trial's own quantile curve.
//!
//! A tail is pooled before it is compared: the mean of thirty trials' p99 is not the p99 of their requests. k6 keeps
//! every sample and prints exact quantiles, so a trial's distribution is known at about forty points; between two of
//! them it is taken as linear.

/// A trial's distribution function: (value, share of requests at or below it), both ascending, and its weight.
#[derive(Clone, Debug)]
pub struct Curve {
    points: Vec<(f64, f64)>,
    n: f64,
}

impl Curve {
    /// From the smallest and the largest observation and the quantiles between, as (p, value) with p ascending.
    pub fn new(n: u64, min: f64, quantiles: &[(f64, f64)], max: f64) -> Curve {
        let mut points = vec![(min, 0.0)];
        points.extend(quantiles.iter().map(|&(p, value)| (value, p)));
        points.push((max, 1.0));
        // A generator rounds what it prints; a curve that steps back by that much is made flat.
        for i in 1..points.len() {
            points[i].0 = points[i].0.max(points[i - 1].0);
            points[i].1 = points[i].1.max(points[i - 1].1);
        }
        Curve {
            points,
            n: n as f64,
        }
    }

    pub fn n(&self) -> f64 {
        self.n
    }

    /// The share of requests at or below `value`.
    fn share_at(&self, value: f64) -> f64 {
        let above = self.points.partition_point(|point| point.0 <= value);
        if above == 0 {
            return 0.0;
        }
        let Some(&(high, high_share)) = self.points.get(above) else {
            return 1.0;
        };
        let (low, low_share) = self.points[above - 1];
        low_share + (high_share - low_share) * (value - low) / (high - low)
    }

    pub fn quantile(&self, p: f64) -> f64 {
        let above = self
            .points
            .partition_point(|point| point.1 < p)
            .clamp(1, self.points.len() - 1);
        let ((low, low_share), (high, high_share)) = (self.points[above - 1], self.points[above]);
        if high_share <= low_share {
            return high;
        }
        low + (high - low) * ((p - low_share) / (high_share - low_share)).clamp(0.0, 1.0)
    }
}

/// Curves laid on one grid of values, so that the quantile of any multiset of them costs a few additions: a bootstrap
/// asks for ten thousand.
#[derive(Clone, Debug)]
pub struct Pool {
    /// Evenly spaced in the logarithm.
    grid: Vec<f64>,
    /// Requests at or below each grid value, a row per curve.
    counts: Vec<Vec<f64>>,
}

/// Over four decades, a step of 0.2 %; inside a step the pool is linear.
const GRID: usize = 4096;

impl Pool {
    /// None without curves, or where some value is not positive.
    pub fn new(curves: &[&Curve]) -> Option<Pool> {
        let low = curves
            .iter()
            .map(|curve| curve.points[0].0)
            .reduce(f64::min)?;
        let high = curves
            .iter()
            .map(|curve| curve.points[curve.points.len() - 1].0)
            .reduce(f64::max)?;
        if low <= 0.0 || !high.is_finite() {
            return None;
        }
        let step = (high / low).ln() / (GRID - 1) as f64;
        let mut grid: Vec<f64> = (0..GRID).map(|i| low * (step * i as f64).exp()).collect();
        // The last value is the largest observation itself, not its neighbour by rounding.
        grid[GRID - 1] = high;
        let row = |curve: &&Curve| {
            grid.iter()
                .map(|&value| curve.n * curve.share_at(value))
                .collect()
        };
        let counts = curves.iter().map(row).collect();
        Some(Pool { grid, counts })
    }

    /// The quantile `p` of the requests of the chosen curves together; a curve chosen twice counts twice.
    pub fn quantile(&self, chosen: &[usize], p: f64) -> f64 {
        let at = |i: usize| -> f64 { chosen.iter().map(|&curve| self.counts[curve][i]).sum() };
        let wanted = p * at(GRID - 1);
        let (mut low, mut high) = (0, GRID - 1);
        while high - low > 1 {
            let middle = (low + high) / 2;
            if at(middle) < wanted {
                low = middle;
            } else {
                high = middle;
            }
        }
        let (below, above) = (at(low), at(high));
        if above <= below {
            return self.grid[high];
        }
        let share = ((wanted - below) / (above - below)).clamp(0.0, 1.0);
        self.grid[low] + (self.grid[high] - self.grid[low]) * share
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(sample: &[f64]) -> Curve {
        let quantiles: Vec<(f64, f64)> = (1..100)
            .map(|percent| f64::from(percent) / 100.0)
            .map(|p| (p, crate::stats::quantile::of_sorted(sample, p).unwrap()))
            .collect();
        Curve::new(
            sample.len() as u64,
            sample[0],
            &quantiles,
            sample[sample.len() - 1],
        )
    }

    #[test]
    fn one_curve_gives_back_the_quantiles_that_it_was_made_of() {
        let curve = Curve::new(100, 1.0, &[(0.5, 2.0), (0.9, 3.0), (0.99, 7.0)], 9.0);
        for (p, expected) in [(0.5, 2.0), (0.9, 3.0), (0.99, 7.0), (0.7, 2.5)] {
            assert!((curve.quantile(p) - expected).abs() < 1e-12, "p{p}");
        }
    }

    #[test]
    fn the_pooled_quantile_is_that_of_the_samples_put_together() {
        // a = [1 + (i / 999) ** 3 for i in range(1000)]; b = [1.5 + 4 * (i / 2999) ** 6 for i in range(3000)]
        // numpy.percentile(a + b, [50, 90, 99]) = [1.516212704, 3.194881031, 5.190454042]
        let a: Vec<f64> = (0..1000)
            .map(|i| 1.0 + (f64::from(i) / 999.0).powi(3))
            .collect();
        let b: Vec<f64> = (0..3000)
            .map(|i| 1.5 + 4.0 * (f64::from(i) / 2999.0).powi(6))
            .collect();
        let pool = Pool::new(&[&curve(&a), &curve(&b)]).unwrap();
        for (p, expected) in [(0.5, 1.516212704), (0.9, 3.194881031), (0.99, 5.190454042)] {
            let got = pool.quantile(&[0, 1], p);
            assert!(
                (got / expected - 1.0).abs() < 0.002,
                "p{p}: {got}, not {expected}"
            );
        }
    }

    #[test]
    fn a_flat_curve_and_a_single_value_are_no_trouble() {
        let flat = Curve::new(20, 2.0, &[(0.5, 2.0)], 2.0);
        assert_eq!(flat.quantile(0.99), 2.0);
        assert_eq!(Pool::new(&[&flat]).unwrap().quantile(&[0, 0], 0.99), 2.0);
    }
}
