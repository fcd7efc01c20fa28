//! Numbers as people read them.

use indicatif::HumanCount;

/// A whole number, in groups of three digits.
pub fn grouped(number: u64) -> String {
    HumanCount(number).to_string()
}

/// A ratio: to two places, or to three if it is small; a large one to whole numbers.
pub fn ratio(value: f64) -> String {
    match value {
        small if small < 0.1 => format!("{value:.3}"),
        large if large > 99.95 => number(value),
        _ => format!("{value:.2}"),
    }
}

/// Three digits that count, and all before the point.
pub fn number(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        size if size < 0.9995 => format!("{value:.3}"),
        size if size < 99.95 => three_digits(value),
        _ => grouped(value.round() as u64),
    }
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
fn three_digits(value: f64) -> String {
    let places = match value.abs() {
        value if value < 9.995 => 2,
        value if value < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.places$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_digits_that_count() {
        let texts = [0.0, 0.0123, 1.234, 56.78, 99.96, 12_345.6].map(number);
        assert_eq!(texts, ["0", "0.012", "1.23", "56.8", "100", "12,346"]);
        assert_eq!([0.014, 0.449, 12.0, 5_547.9].map(ratio), ["0.014", "0.45", "12.00", "5,548"]);
    }

    #[test]
    fn times_have_three_digits() {
        let texts = [7.0, 999.96, 20_000.0, 123_456.0, 1_500_000.0, 2.5e9, 3.6e12].map(time);
        assert_eq!(texts, ["7.00 ns", "1.00 µs", "20.0 µs", "123 µs", "1.50 ms", "2.50 s", "3600 s"]);
    }
}
