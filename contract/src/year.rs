//! The year that the pages show: from the environment, or else from the clock.

use std::fmt;

/// The environment variable that sets the year.
pub const YEAR_VARIABLE: &str = "LEVELFIELD_YEAR";

/// A value of [`YEAR_VARIABLE`] that is no year.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidYear(String);

impl fmt::Display for InvalidYear {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{YEAR_VARIABLE}={:?} is not a year from 1 to 9999; unset it for the current one",
            self.0
        )
    }
}

impl std::error::Error for InvalidYear {}

/// The year that `variable` names, or where it is unset or empty the UTC year at `unix_seconds`.
pub fn year(variable: Option<&str>, unix_seconds: u64) -> Result<u16, InvalidYear> {
    match variable {
        None | Some("") => Ok(utc_year(unix_seconds)),
        Some(text) => match text.parse() {
            Ok(year @ 1..=9999) => Ok(year),
            _ => Err(InvalidYear(text.to_owned())),
        },
    }
}

/// The Gregorian year: whole 400-year cycles, then year by year.
fn utc_year(unix_seconds: u64) -> u16 {
    const DAYS_IN_400_YEARS: u64 = 146_097;
    let mut days = unix_seconds / 86_400;
    let mut year = 1970 + 400 * (days / DAYS_IN_400_YEARS);
    days %= DAYS_IN_400_YEARS;
    loop {
        let leap =
            year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
        let length = if leap { 366 } else { 365 };
        if days < length {
            return u16::try_from(year).unwrap_or(u16::MAX);
        }
        days -= length;
        year += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::year;

    #[test]
    fn the_clock_gives_the_utc_year() {
        for (seconds, expected) in [
            (0, 1970),
            (31_535_999, 1970),
            (31_536_000, 1971),
            (951_868_799, 2000), // 29 February 2000, the last second
            (978_307_199, 2000), // 31 December 2000
            (978_307_200, 2001),
            (1_798_761_599, 2026), // 31 December 2026
            (1_798_761_600, 2027),
            (4_102_444_800, 2100),
            (u64::MAX, u16::MAX),
        ] {
            assert_eq!(year(None, seconds), Ok(expected), "{seconds}");
        }
    }

    #[test]
    fn the_variable_wins_and_is_checked() {
        assert_eq!(year(Some("2031"), 0), Ok(2031));
        assert_eq!(year(Some(""), 0), Ok(1970));
        for bad in ["0", "10000", "-1", "next", "2026 "] {
            let refused = year(Some(bad), 0).unwrap_err().to_string();
            assert!(
                refused.contains(bad) && refused.contains("LEVELFIELD_YEAR"),
                "{refused}"
            );
        }
    }
}
