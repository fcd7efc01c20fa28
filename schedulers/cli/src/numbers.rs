//! Numbers as people read them, and means.

use indicatif::HumanCount;

/// What stands where there is nothing.
pub(crate) const NOTHING: &str = "–";

/// A whole number, in groups of three digits.
pub(crate) fn grouped(number: u64) -> String {
    HumanCount(number).to_string()
}

/// Nanoseconds in the unit that makes them a number below 1,000, to three digits.
pub(crate) fn time(nanos: f64) -> String {
    let units = [(1e9, "s"), (1e6, "ms"), (1e3, "µs")];
    // What would be rounded to 1,000 of a unit is 1 of the next.
    let unit = units.into_iter().find(|(scale, _)| nanos >= 0.9995 * scale);
    let (scale, unit) = unit.unwrap_or((1.0, "ns"));
    format!("{} {unit}", three_digits(nanos / scale))
}

/// A number to three digits that count, or to all before the point.
pub(crate) fn three_digits(value: f64) -> String {
    let places = match value.abs() {
        value if value < 9.995 => 2,
        value if value < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.places$}")
}

/// A part of a whole, in percent.
pub(crate) fn percent(part: f64) -> String {
    format!("{:.0} %", part * 100.0)
}

/// The mean of some samples, and its standard error: none of less than two.
pub(crate) fn mean_and_error(samples: &[f64]) -> (f64, Option<f64>) {
    let count = samples.len() as f64;
    let mean = samples.iter().sum::<f64>() / count;
    let squares: f64 = samples.iter().map(|sample| (sample - mean).powi(2)).sum();
    (mean, (samples.len() > 1).then(|| (squares / (count * (count - 1.0))).sqrt()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_digits_that_count() {
        let texts = [7.0, 999.96, 20_000.0, 123_456.0, 1_500_000.0, 2.5e9, 3.6e12].map(time);
        assert_eq!(texts, ["7.00 ns", "1.00 µs", "20.0 µs", "123 µs", "1.50 ms", "2.50 s", "3600 s"]);
        assert_eq!([0, 999, 1_000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(percent(0.604), "60 %");
    }

    #[test]
    fn a_mean_of_one_has_no_error() {
        assert_eq!(mean_and_error(&[1.0, 3.0]), (2.0, Some(1.0)));
        assert_eq!(mean_and_error(&[5.0]), (5.0, None));
    }
}
