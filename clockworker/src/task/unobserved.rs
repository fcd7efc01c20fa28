//! What stands in for [`ticks`](super::ticks) without the feature `observe`: nothing.

use crate::base::Clock;

#[derive(Debug)]
pub(crate) struct Ticks;

impl Ticks {
    pub(crate) fn new(_clock: Clock) -> Self {
        Self
    }
}

#[derive(Debug)]
pub(super) struct Stamp;

impl Stamp {
    pub(super) fn here(_ticks: &Ticks) -> Self {
        Self
    }

    pub(super) fn elsewhere(_ticks: &Ticks) -> Self {
        Self
    }

    pub(super) fn set_elsewhere(&self, _ticks: &Ticks) {}
}
