//! An axis: where a value is on it, and which values are written beside it.

use crate::numbers::grouped;

const TICKS: f64 = 5.0;

/// Decades of a logarithmic axis up to which 2 and 5 of each are written too.
const FEW_DECADES: f64 = 1.6;

const PERCENTILES: [f64; 7] = [0.0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999];

#[derive(Clone, Debug)]
pub struct Axis {
    /// What it shows, with the unit where ticks have none.
    pub title: String,
    pub scale: Scale,
    pub unit: Unit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    Linear,
    Log,
    /// Parts of a whole, the nearer to 1 the wider apart: each nine takes as much room.
    Nines,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    Plain,
    Nanos,
    Percent,
}

impl Axis {
    pub fn new(title: impl Into<String>, scale: Scale, unit: Unit) -> Self {
        Axis { title: title.into(), scale, unit }
    }

    pub fn shows(&self, value: f64) -> bool {
        self.place(value).is_finite()
    }

    /// Where a value is, in a measure of its own.
    pub fn place(&self, value: f64) -> f64 {
        match self.scale {
            Scale::Linear => value,
            Scale::Log => value.log10(),
            Scale::Nines => -(1.0 - value).log10(),
        }
    }

    /// The places from the one to the other end, for values such as these, and the values to be written with their
    /// places.
    pub fn layout(&self, values: impl Iterator<Item = f64> + Clone) -> ([f64; 2], Vec<f64>) {
        let least = values.clone().fold(f64::INFINITY, f64::min);
        let most = values.fold(f64::NEG_INFINITY, f64::max);
        let ticks = match self.scale {
            Scale::Linear => linear_ticks(most),
            Scale::Log => log_ticks(least, most),
            Scale::Nines => nines_ticks(most),
        };
        let [from, to] = match self.scale {
            Scale::Linear => [0.0, most.max(*ticks.last().unwrap_or(&1.0))],
            Scale::Log => [least.min(ticks[0]).log10(), most.max(*ticks.last().unwrap_or(&1.0)).log10()],
            Scale::Nines => [0.0, self.place(most)],
        };
        let some = f64::EPSILON.max((to - from) * 1e-9);
        ([from, to.max(from + some)], ticks)
    }

    pub fn format(&self, value: f64) -> String {
        match self.unit {
            Unit::Plain => short(value),
            Unit::Nanos => nanos(value),
            Unit::Percent => percent(value),
        }
    }
}

/// 0 and up, in steps of 1, 2 or 5.
fn linear_ticks(most: f64) -> Vec<f64> {
    if most <= 0.0 {
        return vec![0.0, 1.0];
    }
    let raw = most / TICKS;
    let decade = 10_f64.powf(raw.log10().floor());
    let factors = [1.0, 2.0, 5.0, 10.0];
    let step = decade * factors.into_iter().find(|factor| factor * decade >= raw * 0.999).unwrap_or(10.0);
    let count = (most / step - 1e-9).ceil() as u32;
    (0..=count).map(|tick| f64::from(tick) * step).collect()
}

/// Percentiles. Where there are many nines, 50 % leaves no room for 0 %.
fn nines_ticks(most: f64) -> Vec<f64> {
    let from = if most > 0.99 { 0.5 } else { 0.0 };
    PERCENTILES.into_iter().filter(|part| (from..=most).contains(part)).collect()
}

/// Powers of ten, with 2 and 5 of each where there are few.
fn log_ticks(least: f64, most: f64) -> Vec<f64> {
    let factors: &[f64] = if (most / least).log10() < FEW_DECADES { &[1.0, 2.0, 5.0] } else { &[1.0] };
    let decades = (least.log10().floor() as i32)..=(most.log10().ceil() as i32);
    let all: Vec<f64> =
        decades.flat_map(|decade| factors.iter().map(move |factor| factor * 10_f64.powi(decade))).collect();
    // From the last at or below the least to the first at or above the most.
    let from = all.iter().rposition(|&tick| tick <= least * (1.0 + 1e-9)).unwrap_or(0);
    let to = all.iter().position(|&tick| tick >= most * (1.0 - 1e-9)).unwrap_or(all.len() - 1);
    all[from..=to.max(from)].to_vec()
}

/// Three digits that count, without zeros at the end of a fraction.
fn short(value: f64) -> String {
    if value.abs() >= 1_000.0 {
        return grouped(value.round() as u64);
    }
    let digits = if value == 0.0 { 0 } else { (2 - value.abs().log10().floor() as i32).max(0) as usize };
    let text = format!("{value:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// In percent, with as many digits as tell a part from the whole.
fn percent(part: f64) -> String {
    let rest = 100.0 * (1.0 - part);
    let digits = if rest > 0.0 && rest < 10.0 { (0.5 - rest.log10()).ceil().max(0.0) as usize } else { 0 };
    let text = format!("{:.*}", digits.clamp(1, 6), part * 100.0);
    format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
}

/// Nanoseconds, in the largest unit of which there is one.
fn nanos(value: f64) -> String {
    let units = [(1e9, "s"), (1e6, "ms"), (1e3, "µs")];
    let found = units.into_iter().find(|(unit, _)| value >= unit * 0.9995);
    let (unit, name) = found.unwrap_or((1.0, "ns"));
    format!("{} {name}", short(value / unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticks(scale: Scale, values: &[f64]) -> Vec<f64> {
        Axis::new("", scale, Unit::Plain).layout(values.iter().copied()).1
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(ticks(Scale::Linear, &[3.0, 97.0]), [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]);
        assert_eq!(ticks(Scale::Log, &[0.3, 4.0]), [0.2, 0.5, 1.0, 2.0, 5.0]);
        assert_eq!(ticks(Scale::Log, &[2e3, 5e7]), [1e3, 1e4, 1e5, 1e6, 1e7, 1e8]);
        assert_eq!(ticks(Scale::Nines, &[0.0, 0.999]), [0.5, 0.9, 0.99, 0.999]);
        assert_eq!(ticks(Scale::Nines, &[0.0, 0.9]), [0.0, 0.5, 0.9]);
    }

    #[test]
    fn one_value_is_no_reason_to_divide_by_nothing() {
        for (scale, value) in [(Scale::Linear, 0.0), (Scale::Log, 1.0), (Scale::Nines, 0.0)] {
            let ([from, to], _) = Axis::new("", scale, Unit::Plain).layout([value].into_iter());
            assert!(from < to, "{scale:?}");
        }
    }

    #[test]
    fn what_has_no_place_is_not_shown() {
        let axis = |scale| Axis::new("", scale, Unit::Plain);
        assert!(!axis(Scale::Log).shows(0.0) && !axis(Scale::Nines).shows(1.0));
        assert!(axis(Scale::Linear).shows(0.0) && !axis(Scale::Linear).shows(f64::NAN));
    }

    #[test]
    fn values_are_written_with_the_digits_that_count() {
        let texts = [0.0, 0.5, 1.0, 12.34, 50_000.0].map(short);
        assert_eq!(texts, ["0", "0.5", "1", "12.3", "50,000"]);
        assert_eq!([1.5e3, 1e6, 20.0, 2.5e9].map(nanos), ["1.5 µs", "1 ms", "20 ns", "2.5 s"]);
        let percent = Axis::new("", Scale::Linear, Unit::Percent);
        assert_eq!([0.999, 0.9999, 0.5].map(|part| percent.format(part)), ["99.9 %", "99.99 %", "50 %"]);
    }
}
