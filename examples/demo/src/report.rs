//! The numbers as a table and as JSON.

use std::fmt::Write;
use std::time::Duration;

use crate::clients::{OFFERED, WINDOW};
use crate::history::Summary;
use crate::sides::Side;
use crate::store::SHARDS;

/// What each side had, without the background and beside it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Report {
    /// The background's, in percent.
    pub(crate) share: u32,
    pub(crate) alone: [Summary; 2],
    pub(crate) beside: [Summary; 2],
}

impl Report {
    pub(crate) fn table(&self) -> String {
        let mut text = format!(
            "One key-value service, {OFFERED} requests a second, on two executors in turns on one thread, in windows of {} ms\n\n\
             {:28}{:>10}{:>10}{:>12}{:>19}\n",
            WINDOW.as_millis(),
            "",
            "p50",
            "p99",
            "answered",
            "background"
        );
        let beside =
            format!("beside {SHARDS} compactors, which have a share of {} % on Clockworker", self.share);
        for (title, sides) in [("requests alone", &self.alone), (&*beside, &self.beside)] {
            let _ = writeln!(text, "{title}");
            for (side, summary) in Side::BOTH.into_iter().zip(sides) {
                let [p50, p99] = [summary.p50, summary.p99].map(time);
                let (answered, rows) = (short(summary.answered), short(summary.rows));
                let _ = writeln!(
                    text,
                    "  {:26}{p50:>10}{p99:>10}{:>12}{:>19}",
                    side.title(),
                    format!("{answered}/s"),
                    format!("{rows} rows/s")
                );
            }
        }
        text
    }

    pub(crate) fn json(&self) -> String {
        let one = |side: Side, summary: &Summary| {
            let [p50, p99] = [summary.p50, summary.p99].map(|time| time.as_secs_f64() * 1e6);
            let Summary { answered, rows, .. } = summary;
            format!(
                "\"{}\": {{\"p50_us\": {p50:.1}, \"p99_us\": {p99:.1}, \"answered_per_second\": {answered}, \
                 \"rows_per_second\": {rows}}}",
                match side {
                    Side::LocalSet => "local_set",
                    Side::Clockworker => "clockworker",
                }
            )
        };
        let both = |sides: &[Summary; 2]| {
            let [first, second] = Side::BOTH.map(|side| one(side, &sides[side as usize]));
            format!("{{\n    {first},\n    {second}\n  }}")
        };
        format!(
            "{{\n  \"offered_per_second\": {OFFERED},\n  \"background_share_percent\": {},\n  \"alone\": {},\n  \
             \"beside_background\": {}\n}}\n",
            self.share,
            both(&self.alone),
            both(&self.beside)
        )
    }
}

/// A time in three digits or so. A dash for none.
pub(crate) fn time(time: Duration) -> String {
    let micros = time.as_secs_f64() * 1e6;
    match micros {
        0.0 => "–".to_owned(),
        ..99.95 => format!("{micros:.1} µs"),
        ..999.5 => format!("{micros:.0} µs"),
        ..99_950.0 => format!("{:.2} ms", micros / 1e3),
        _ => format!("{:.0} ms", micros / 1e3),
    }
}

/// A number in at most four digits.
pub(crate) fn short(number: u64) -> String {
    match number {
        0..10_000 => number.to_string(),
        10_000..999_500 => format!("{:.0} k", number as f64 / 1e3),
        _ => format!("{:.1} M", number as f64 / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_numbers_are_short() {
        let times = [0, 60_400, 99_949, 99_950, 999_499, 999_500, 2_345_000, 99_949_000, 150_000_000];
        let times = times.map(|nanos| time(Duration::from_nanos(nanos)));
        let expected =
            ["–", "60.4 µs", "99.9 µs", "100 µs", "999 µs", "1.00 ms", "2.35 ms", "99.95 ms", "150 ms"];
        assert_eq!(times, expected);
        let numbers = [0, 9_999, 10_000, 999_499, 999_500, 41_230_000].map(short);
        assert_eq!(numbers, ["0", "9999", "10 k", "999 k", "1.0 M", "41.2 M"]);
    }
}
