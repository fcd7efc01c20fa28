//! Durations as people write them: `20us`, `1.5ms`.

use core::fmt;

/// The units, the longest first, and their nanoseconds.
const UNITS: [(&str, f64); 4] = [("s", 1e9), ("ms", 1e6), ("us", 1e3), ("ns", 1.0)];

/// Reads a duration in nanoseconds: a number and one of the units `ns`, `us` (or `µs`), `ms` and `s`.
///
/// # Errors
///
/// If there is no unit or no number, or it is negative or above 2⁶³ ns.
///
/// ```
/// use clockworker_schedulers::simulate::parse_ns;
///
/// assert_eq!(parse_ns("20us"), Ok(20_000.0));
/// assert_eq!(parse_ns("1.5 ms"), Ok(1_500_000.0));
/// assert!(parse_ns("20").is_err());
/// ```
pub fn parse_ns(text: &str) -> Result<f64, DurationError> {
    let wrong = || DurationError { given: text.to_owned() };
    let end = text.find(|c: char| c.is_alphabetic()).ok_or_else(wrong)?;
    let (number, unit) = (text[..end].trim(), text[end..].trim());
    let unit = if matches!(unit, "µs" | "μs") { "us" } else { unit };
    let (_, scale) = UNITS.into_iter().find(|(name, _)| *name == unit).ok_or_else(wrong)?;
    let ns = number.parse::<f64>().map_err(|_| wrong())? * scale;
    if (0.0..9.3e18).contains(&ns) { Ok(ns) } else { Err(wrong()) }
}

/// Writes nanoseconds so that [`parse_ns`] reads the same again, in the unit that makes the number at least 1.
///
/// ```
/// use clockworker_schedulers::simulate::format_ns;
///
/// assert_eq!([0.0, 20_000.0, 1_500_000.0].map(format_ns), ["0ns", "20us", "1.5ms"]);
/// ```
pub fn format_ns(ns: f64) -> String {
    let fits = |(_, scale): &(&str, f64)| ns >= *scale;
    let (unit, scale) = UNITS.into_iter().find(fits).unwrap_or(("ns", 1.0));
    format!("{}{unit}", ns / scale)
}

/// A text that is not a duration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DurationError {
    given: String,
}

impl fmt::Display for DurationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}' is no duration: a number and ns, us, ms or s, such as 20us", self.given)
    }
}

impl core::error::Error for DurationError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unit_is_read() {
        let texts = ["7ns", "7us", "7µs", "7ms", "7s", "0.5us"];
        assert_eq!(texts.map(|text| parse_ns(text).unwrap()), [7.0, 7e3, 7e3, 7e6, 7e9, 500.0]);
    }

    #[test]
    fn what_is_no_duration_is_refused_with_an_example() {
        for text in ["", "us", "5", "-1us", "5 minutes", "nan ns", "inf s", "1e30s", "1,5ms"] {
            assert!(parse_ns(text).is_err(), "{text}");
        }
        let line = parse_ns("5").unwrap_err().to_string();
        assert_eq!(line, "'5' is no duration: a number and ns, us, ms or s, such as 20us");
    }
}
