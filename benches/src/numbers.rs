//! Numbers as people read them.

use crate::stats::Estimate;

/// A whole number, in groups of three digits.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A ratio, to two places or, if it is small, to three.
pub fn ratio(value: f64) -> String {
    if value < 0.1 { format!("{value:.3}") } else { format!("{value:.2}") }
}

/// The two ends of an interval.
pub fn interval(estimate: &Estimate) -> String {
    format!("{} – {}", ratio(estimate.low), ratio(estimate.high))
}

/// A ratio with its interval.
pub fn with_interval(estimate: &Estimate) -> String {
    format!("{} ({})", ratio(estimate.median), interval(estimate))
}

/// What stands where there is nothing.
pub const NOTHING: &str = "–";

/// A ratio with its interval, if there is one.
pub fn compared(estimate: Option<&Estimate>) -> String {
    estimate.map_or_else(|| NOTHING.to_owned(), with_interval)
}

/// Three digits that count, and all before the point.
pub fn number(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        size if size < 0.9995 => format!("{value:.3}"),
        size if size < 9.995 => format!("{value:.2}"),
        size if size < 99.95 => format!("{value:.1}"),
        _ => grouped(value.round() as u64),
    }
}

/// Nanoseconds as microseconds.
pub fn micros(nanos: u64) -> String {
    grouped((nanos as f64 / 1e3).round() as u64)
}

/// Nanoseconds in the unit that makes them a number below 1,000, to three digits.
pub fn time(nanos: f64) -> String {
    let units = [(1e9, "s"), (1e6, "ms"), (1e3, "µs")];
    // What would be rounded to 1,000 of a unit is 1 of the next.
    let unit = units.into_iter().find(|(scale, _)| nanos >= 0.9995 * scale);
    let (scale, unit) = unit.unwrap_or((1.0, "ns"));
    format!("{} {unit}", three_digits(nanos / scale))
}

/// A number to three digits that count, or to all before the point.
pub fn three_digits(value: f64) -> String {
    let places = match value.abs() {
        value if value < 9.995 => 2,
        value if value < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.places$}")
}

/// A part of a whole, in percent.
pub fn percent(part: f64) -> String {
    format!("{:.0} %", part * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_come_in_threes() {
        let texts = [0, 12, 999, 1_000, 50_000, 1_234_567].map(grouped);
        assert_eq!(texts, ["0", "12", "999", "1,000", "50,000", "1,234,567"]);
    }

    #[test]
    fn ratios_keep_two_digits_that_count() {
        assert_eq!([0.014, 0.449, 12.0].map(ratio), ["0.014", "0.45", "12.00"]);
        assert_eq!(interval(&Estimate { median: 1.0, low: 0.9, high: 1.25 }), "0.90 – 1.25");
    }

    #[test]
    fn numbers_have_three_digits_that_count() {
        let texts = [0.0, 0.0123, 1.234, 56.78, 99.96, 12_345.6].map(number);
        assert_eq!(texts, ["0", "0.012", "1.23", "56.8", "100", "12,346"]);
    }

    #[test]
    fn times_have_three_digits() {
        let texts = [7.0, 999.96, 20_000.0, 123_456.0, 1_500_000.0, 2.5e9, 3.6e12].map(time);
        assert_eq!(texts, ["7.00 ns", "1.00 µs", "20.0 µs", "123 µs", "1.50 ms", "2.50 s", "3600 s"]);
    }

    #[test]
    fn micros_and_parts_are_whole() {
        assert_eq!([61_400, 2_838_600].map(micros), ["61", "2,839"]);
        assert_eq!(percent(0.604), "60 %");
    }
}
