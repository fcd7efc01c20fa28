//! When tasks computed, and the most that they did in any stretch of time.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use super::VirtualTime;

/// Stretches of work, in order: from when until when.
#[derive(Clone, Default)]
pub(crate) struct Spans(Rc<RefCell<Vec<(Duration, Duration)>>>);

impl Spans {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// The calling task computes for that long, which is noted.
    pub(crate) fn work(&self, sim: &VirtualTime, length: Duration) {
        let from = sim.now();
        sim.work(length);
        self.0.borrow_mut().push((from, sim.now()));
    }

    pub(crate) fn all(&self) -> Vec<(Duration, Duration)> {
        self.0.borrow().clone()
    }

    /// When each stretch began.
    pub(crate) fn starts(&self) -> Vec<Duration> {
        self.0.borrow().iter().map(|span| span.0).collect()
    }

    /// How much of the stretch between two times was work.
    pub(crate) fn within(&self, from: Duration, until: Duration) -> Duration {
        let part = |&(begin, end): &(Duration, Duration)| end.min(until).saturating_sub(begin.max(from));
        self.0.borrow().iter().map(part).sum()
    }
}
