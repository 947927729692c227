//! Numbers and names as a reader sees them.

/// Three significant digits, thousands parted: "0.618", "12.4", "1,310".
pub fn number(value: f64) -> String {
    if !value.is_finite() {
        return "n/a".into();
    }
    let magnitude = if value == 0.0 {
        0
    } else {
        value.abs().log10().floor() as i32
    };
    let decimals = (2 - magnitude).clamp(0, 4) as usize;
    if value == 0.0 {
        return "0".into();
    }
    parted(&format!("{value:.decimals$}"))
}

pub fn count(value: u64) -> String {
    parted(&value.to_string())
}

fn parted(digits: &str) -> String {
    let (whole, fraction) = digits
        .split_once('.')
        .map_or((digits, None), |(w, f)| (w, Some(f)));
    let (sign, whole) = whole
        .strip_prefix('-')
        .map_or(("", whole), |rest| ("-", rest));
    let mut parted = String::new();
    for (i, digit) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i).is_multiple_of(3) {
            parted.push(',');
        }
        parted.push(digit);
    }
    match fraction {
        Some(fraction) => format!("{sign}{parted}.{fraction}"),
        None => format!("{sign}{parted}"),
    }
}

/// A number that was chosen rather than measured, a limit or a tick: no more digits than it needs.
pub fn plain(value: f64) -> String {
    if value.abs() >= 1000.0 {
        return number(value);
    }
    format!("{value:.4}")
        .trim_end_matches('0')
        .trim_end_matches('.')
        .to_owned()
}

/// "1.31×".
pub fn ratio(value: f64) -> String {
    format!("{value:.2}×")
}

/// "1.29 to 1.33".
pub fn range(low: f64, high: f64) -> String {
    format!("{low:.2} to {high:.2}")
}

/// "1.29 to 1.33 (98.3 %)": an interval says its level.
pub fn interval(interval: &crate::stats::interval::Interval) -> String {
    format!(
        "{} ({})",
        range(interval.low, interval.high),
        level(interval.level)
    )
}

/// Rounded down, so that no interval claims more than it has: "99.8 %".
pub fn level(level: f64) -> String {
    format!("{} %", plain((level * 1000.0 + 1e-6).floor() / 10.0))
}

pub fn megabytes(bytes: u64) -> String {
    format!("{} MB", number(bytes as f64 / 1e6))
}

pub fn share(value: f64) -> String {
    format!("{:.0} %", value * 100.0)
}

/// "p99.9" from 0.999.
pub fn percentile(p: f64) -> String {
    let percent = format!("{:.3}", p * 100.0);
    format!("p{}", percent.trim_end_matches('0').trim_end_matches('.'))
}

pub fn plural(n: usize, one: &str) -> String {
    if n == 1 {
        format!("1 {one}")
    } else {
        format!("{} {one}s", count(n as u64))
    }
}

/// For text and double-quoted attributes.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_carry_three_digits_and_parted_thousands() {
        let shown = [
            0.0, 0.000_12, 0.6184, 12.36, 128.4, 1310.0, 21_400.7, -1234.0,
        ]
        .map(number);
        let expected = [
            "0", "0.0001", "0.618", "12.4", "128", "1,310", "21,401", "-1,234",
        ];
        assert_eq!(shown, expected);
        assert_eq!(number(f64::NAN), "n/a");
        assert_eq!(count(5_000_000), "5,000,000");
    }

    #[test]
    fn a_level_is_never_rounded_up() {
        assert_eq!(
            [0.95, 0.9991, 0.99583].map(level),
            ["95 %", "99.9 %", "99.5 %"]
        );
    }

    #[test]
    fn percentiles_are_named_as_the_field_names_them() {
        assert_eq!(
            [0.5, 0.99, 0.999, 0.01].map(percentile),
            ["p50", "p99", "p99.9", "p1"]
        );
    }
}
