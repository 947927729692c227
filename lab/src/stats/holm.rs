//! Holm's step-down correction, told as interval levels instead of p-values.

/// The level that each of a family's intervals has to have, so that the chance of even one false exclusion in the
/// whole family stays below `alpha`. `alphas[i]` is the smallest alpha at which interval `i` excludes the null value.
///
/// The most significant of `m` gets `1 - alpha/m`, the next `1 - alpha/(m-1)` and so on; from the first that does not
/// exclude at its level, none may, and all keep that one's level.
pub fn levels(alphas: &[f64], alpha: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..alphas.len()).collect();
    order.sort_by(|&a, &b| alphas[a].total_cmp(&alphas[b]));
    let mut levels = vec![1.0 - alpha; alphas.len()];
    let mut stopped_at = None;
    for (rank, &index) in order.iter().enumerate() {
        let share = stopped_at.unwrap_or(alpha / (alphas.len() - rank) as f64);
        if alphas[index] > share {
            stopped_at = Some(share);
        }
        levels[index] = 1.0 - share;
    }
    levels
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rank_gets_its_share_until_the_first_that_fails() {
        // statsmodels.stats.multitest.multipletests([.01, .04, .03, .005], method="holm") rejects the first and the
        // last: .005 <= .05/4, .01 <= .05/3, .03 > .05/2, so that .04 keeps .05/2 and is not rejected either.
        let levels = levels(&[0.01, 0.04, 0.03, 0.005], 0.05);
        let expected = [1.0 - 0.05 / 3.0, 0.975, 0.975, 1.0 - 0.05 / 4.0];
        for (got, expected) in levels.iter().zip(expected) {
            assert!((got - expected).abs() < 1e-12, "{levels:?}");
        }
    }

    #[test]
    fn a_family_of_one_is_not_corrected_and_an_empty_one_is_empty() {
        assert_eq!(levels(&[0.2], 0.05), [0.95]);
        assert!(levels(&[], 0.05).is_empty());
    }
}
