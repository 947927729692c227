//! The normal and Student's distributions, as far as intervals need them.

/// The standard normal distribution function.
pub fn normal_cdf(x: f64) -> f64 {
    0.5 * libm::erfc(-x / std::f64::consts::SQRT_2)
}

/// The value that Student's t with `df` degrees of freedom exceeds with probability `tail` (0 < tail <= 0.5).
pub fn t_upper(tail: f64, df: f64) -> f64 {
    let (mut low, mut high) = (0.0_f64, 1.0_f64);
    while t_sf(high, df) > tail && high < 1e12 {
        low = high;
        high *= 2.0;
    }
    // Bisection to the last bits: plainness wins over speed here.
    while high - low > 1e-14 * high {
        let middle = 0.5 * (low + high);
        if t_sf(middle, df) > tail {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// P(T > t) for t >= 0, by the incomplete beta function.
fn t_sf(t: f64, df: f64) -> f64 {
    0.5 * incomplete_beta(df / (df + t * t), 0.5 * df, 0.5)
}

/// The regularised incomplete beta function by its continued fraction (DLMF 8.17.22), evaluated with Lentz's method.
fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    // The fraction converges fast below this point; above it the symmetry I_x(a,b) = 1 - I_(1-x)(b,a) helps.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(1.0 - x, b, a);
    }
    let front =
        (libm::lgamma(a + b) - libm::lgamma(a) - libm::lgamma(b) + a * x.ln() + b * (1.0 - x).ln())
            .exp()
            / a;
    const TINY: f64 = 1e-300;
    let (mut c, mut d) = (1.0, 1.0 - (a + b) * x / (a + 1.0));
    d = 1.0 / if d.abs() < TINY { TINY } else { d };
    let mut fraction = d;
    for m in 1..500 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let before = fraction;
        for term in [even, odd] {
            d = 1.0 + term * d;
            d = 1.0 / if d.abs() < TINY { TINY } else { d };
            c = 1.0 + term / c;
            if c.abs() < TINY {
                c = TINY;
            }
            fraction *= c * d;
        }
        if (fraction - before).abs() <= f64::EPSILON * fraction.abs() {
            break;
        }
    }
    front * fraction
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_normal_distribution_is_scipys() {
        // [float(scipy.stats.norm.cdf(x)) for x in (0, -1.959963984540054, -2.384, -4.75, 1)]
        for (x, expected) in NORMAL {
            let got = normal_cdf(x);
            assert!((got / expected - 1.0).abs() < 1e-12, "{x}: {got}");
        }
    }

    #[test]
    fn students_quantiles_are_scipys() {
        // [(a, df, float(scipy.stats.t.isf(a, df))) for a, df in
        //     ((.025, 9), (.025, 29), (.0005, 9), (.00125, 14), (.05, 1), (1e-6, 9), (.025, 1000))]
        for (tail, df, expected) in STUDENT {
            let got = t_upper(tail, df);
            assert!((got / expected - 1.0).abs() < 1e-9, "{tail}, {df}: {got}");
        }
    }

    #[rustfmt::skip]
    const NORMAL: [(f64, f64); 5] = [(0.0, 0.5), (-1.959963984540054, 0.025), (-2.384, 0.008562801185272587), (-4.75, 1.0170832425687032e-06), (1.0, 0.8413447460685429)];

    #[rustfmt::skip]
    const STUDENT: [(f64, f64, f64); 7] = [(0.025, 9.0, 2.2621571627982053), (0.025, 29.0, 2.045229642132704), (0.0005, 9.0, 4.780912585931139), (0.00125, 14.0, 3.674593908471609), (0.05, 1.0, 6.313751514675044), (1e-06, 9.0, 10.7201604099095), (0.025, 1000.0, 1.9623390808264085)];
}
