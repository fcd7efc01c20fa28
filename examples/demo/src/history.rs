//! What was measured of one side.

use std::collections::VecDeque;
use std::time::Duration;

use crate::clients::Seen;

/// What one side did in a window, or in the median of several. Zero where nothing was measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Summary {
    pub(crate) p50: Duration,
    pub(crate) p99: Duration,
    /// Requests answered per second.
    pub(crate) answered: u64,
    /// Rows compacted per second.
    pub(crate) rows: u64,
}

impl Summary {
    /// Of a window that took this time.
    pub(crate) fn new(seen: Seen, rows: u64, time: Duration) -> Self {
        let Seen { mut latencies, answered } = seen;
        latencies.sort_unstable();
        let per_second = |count: u64| (count as f64 / time.as_secs_f64()).round() as u64;
        Self {
            p50: quantile(&latencies, 50),
            p99: quantile(&latencies, 99),
            answered: per_second(answered),
            rows: per_second(rows),
        }
    }

    /// The median of each number. What else runs on the machine hits some windows hard, and says nothing of either side.
    pub(crate) fn median(windows: &[Self]) -> Self {
        Self {
            p50: median(windows, |window| window.p50),
            p99: median(windows, |window| window.p99),
            answered: median(windows, |window| window.answered),
            rows: median(windows, |window| window.rows),
        }
    }
}

fn median<T: Copy + Default + Ord>(windows: &[Summary], of: impl Fn(&Summary) -> T) -> T {
    let mut values: Vec<T> = windows.iter().map(of).collect();
    values.sort_unstable();
    quantile(&values, 50)
}

/// The smallest of these values in order that so many percent are not above.
pub(crate) fn quantile<T: Copy + Default>(values: &[T], percent: usize) -> T {
    let rank = (values.len() * percent).div_ceil(100);
    values.get(rank.saturating_sub(1)).copied().unwrap_or_default()
}

/// The windows that are kept: half an hour of them.
const KEPT: usize = 5_000;

/// See the [module docs](self).
#[derive(Debug, Default)]
pub(crate) struct History {
    /// The oldest first.
    each: VecDeque<Summary>,
    /// How many there were since a setting was changed.
    since_change: usize,
}

impl History {
    pub(crate) fn push(&mut self, window: Summary) {
        if self.each.len() == KEPT {
            self.each.pop_front();
        }
        self.each.push_back(window);
        self.since_change += 1;
    }

    pub(crate) fn setting_changed(&mut self) {
        self.since_change = 0;
    }

    /// The median of the windows since a setting was changed, but of at most so many.
    pub(crate) fn recent(&self, most: usize) -> Summary {
        Summary::median(&self.newest(self.since_change.min(most)))
    }

    /// At most so many windows, the oldest first.
    pub(crate) fn newest(&self, most: usize) -> Vec<Summary> {
        self.each.range(self.each.len().saturating_sub(most)..).copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(micros: std::ops::RangeInclusive<u64>, answered: u64, rows: u64) -> Summary {
        let latencies = micros.rev().map(Duration::from_micros).collect();
        Summary::new(Seen { latencies, answered }, rows, Duration::from_millis(200))
    }

    #[test]
    fn a_window_in_numbers() {
        let micros = Duration::from_micros;
        let expected = Summary { p50: micros(50), p99: micros(99), answered: 495, rows: 5_000 };
        assert_eq!(window(1..=100, 99, 1_000), expected);
        assert_eq!(window(7..=7, 1, 0), Summary { p50: micros(7), p99: micros(7), answered: 5, rows: 0 });
        #[allow(clippy::reversed_empty_ranges, reason = "no latency")]
        let none = window(1..=0, 0, 0);
        assert_eq!(none, Summary::default());
    }

    #[test]
    fn a_median_is_of_each_number_by_itself() {
        let windows = [window(1..=1, 3, 10), window(9..=9, 1, 30), window(5..=5, 2, 20)];
        assert_eq!(Summary::median(&windows), window(5..=5, 2, 20));
        assert_eq!(Summary::median(&[]), Summary::default());
    }

    #[test]
    fn numbers_begin_anew_with_a_setting_and_lines_go_on() {
        let mut history = History::default();
        (1..=6_000).for_each(|n| history.push(window(n..=n, 1, n)));
        assert_eq!(history.recent(15), window(5_993..=5_993, 1, 5_993));
        assert_eq!(history.recent(usize::MAX), window(3_500..=3_500, 1, 3_500));
        history.setting_changed();
        assert_eq!(history.recent(15), Summary::default());
        assert_eq!(history.newest(2), [window(5_999..=5_999, 1, 5_999), window(6_000..=6_000, 1, 6_000)]);
        history.push(window(1..=1, 1, 1));
        assert_eq!(history.recent(15), window(1..=1, 1, 1));
    }
}
