//! The words that a ratio may be given, and when.

use super::interval::Interval;

/// Ratios inside this band are the same for every practical purpose.
pub const EQUIVALENCE: (f64, f64) = (0.97, 1.03);

/// Five blocks cannot reach 5 % in any test that only uses their signs; ten leave room for a correction.
pub const MIN_BLOCKS: usize = 10;

/// A tail is decided by few requests of few blocks.
pub const MIN_BLOCKS_TAIL: usize = 30;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    LowerIsBetter,
    HigherIsBetter,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Better,
    Worse,
    Equivalent,
    Inconclusive,
}

/// Judges a ratio `target / baseline` by its interval. Equivalence is asked first: a difference that is certain and
/// smaller than the band is still no difference that matters.
pub fn judge(ratio: Interval, direction: Direction) -> Verdict {
    if ratio.low >= EQUIVALENCE.0 && ratio.high <= EQUIVALENCE.1 {
        return Verdict::Equivalent;
    }
    if ratio.contains(1.0) {
        return Verdict::Inconclusive;
    }
    match (ratio.high < 1.0, direction) {
        (true, Direction::LowerIsBetter) | (false, Direction::HigherIsBetter) => Verdict::Better,
        _ => Verdict::Worse,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(low: f64, high: f64, direction: Direction) -> Verdict {
        judge(
            Interval {
                low,
                high,
                level: 0.95,
            },
            direction,
        )
    }

    #[test]
    fn an_interval_beyond_one_is_a_difference_in_its_direction() {
        assert_eq!(verdict(1.1, 1.2, Direction::LowerIsBetter), Verdict::Worse);
        assert_eq!(verdict(0.8, 0.9, Direction::LowerIsBetter), Verdict::Better);
        assert_eq!(
            verdict(1.1, 1.2, Direction::HigherIsBetter),
            Verdict::Better
        );
        assert_eq!(verdict(0.8, 0.9, Direction::HigherIsBetter), Verdict::Worse);
    }

    #[test]
    fn an_interval_inside_the_band_is_equivalent_even_when_it_excludes_one() {
        assert_eq!(
            verdict(1.01, 1.02, Direction::LowerIsBetter),
            Verdict::Equivalent
        );
        assert_eq!(
            verdict(0.98, 1.02, Direction::LowerIsBetter),
            Verdict::Equivalent
        );
    }

    #[test]
    fn an_interval_that_holds_one_and_leaves_the_band_is_inconclusive() {
        assert_eq!(
            verdict(0.95, 1.02, Direction::LowerIsBetter),
            Verdict::Inconclusive
        );
    }
}
