//! [`Series`]: a number that changes at times.

use std::time::Duration;

/// A number, from when on it was what: only where it became another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Series<T> {
    points: Vec<(Duration, T)>,
}

impl<T> Default for Series<T> {
    fn default() -> Self {
        Self { points: Vec::new() }
    }
}

impl<T: Copy + PartialEq> Series<T> {
    /// The number is that from `at` on, which is not before the last time.
    pub(crate) fn set(&mut self, at: Duration, number: T) {
        self.points.pop_if(|last| last.0 == at);
        if self.last() != Some(number) {
            self.points.push((at, number));
        }
    }

    /// What it was last.
    pub(crate) fn last(&self) -> Option<T> {
        self.points.last().map(|&(_, number)| number)
    }

    /// Changes each number there is so far.
    pub(crate) fn change_all(&mut self, change: impl Fn(&mut T)) {
        self.points.iter_mut().for_each(|(_, number)| change(number));
    }

    /// Since when it was what.
    pub(crate) fn points(&self) -> &[(Duration, T)] {
        &self.points
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_changes_are_kept_and_of_one_time_only_the_last() {
        let mut series = Series::default();
        for (us, number) in [(1, 5), (2, 5), (3, 6), (3, 5), (4, 7), (4, 8)] {
            series.set(Duration::from_micros(us), number);
        }
        let us = Duration::from_micros;
        assert_eq!(series.points(), [(us(1), 5), (us(4), 8)]);
    }
}
