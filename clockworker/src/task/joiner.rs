//! Who is told when a task has finished.

use std::task::Waker;

use super::{FinishedList, Id};
use crate::base::wake_quietly;
use crate::sync::Arc;

/// Who is told when a task has finished. Takes no more memory than a waker.
pub(super) enum Joiner {
    /// Who awaits the join handle.
    Waker(Waker),
    /// The set that has the join handle; nobody, if there is none. (One variant: a waker leaves room for no third.)
    Set(Option<Arc<FinishedList>>),
}

impl Joiner {
    pub(super) const NOBODY: Self = Self::Set(None);

    /// Whether it is a waker that does the same as `waker`.
    pub(super) fn will_wake(&self, waker: &Waker) -> bool {
        matches!(self, Self::Waker(current) if current.will_wake(waker))
    }

    /// Tells it that `task` has finished.
    pub(super) fn tell(self, task: Id) {
        match self {
            Self::Waker(waker) => wake_quietly(waker),
            Self::Set(set) => set.into_iter().for_each(|set| set.push(task)),
        }
    }
}

#[cfg(all(test, not(any(clockworker_loom, clockworker_shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn it_fits_in_a_waker() {
        assert_eq!(size_of::<Joiner>(), size_of::<Waker>());
    }
}
