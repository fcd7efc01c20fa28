//! [`Wait`]: what the main future waits for.

use std::cell::Cell;
use std::ops::Range;
use std::task::{Context, Poll, Waker};

/// Counts polls for the main future, and wakes it.
#[derive(Default)]
pub(super) struct Wait {
    /// Polls until it is over.
    left: Cell<u32>,
    /// Polls of that queue alone count.
    of: Cell<Option<usize>>,
    /// Polls of any queue until it is given up.
    patience: Cell<u32>,
    /// What is to be done inside the last poll: from the one move to the other.
    moves: Cell<(usize, usize)>,
    waker: Cell<Option<Waker>>,
}

/// The most polls of one wait: a queue that is never polled must not hold up the play.
const PATIENCE: u32 = 400;

impl Wait {
    /// Begins to wait for so many polls, or so many of one queue.
    pub(super) fn begin(&self, polls: u32, of: Option<usize>, moves: Range<usize>) {
        self.left.set(polls);
        self.of.set(of);
        self.patience.set(PATIENCE);
        self.moves.set((moves.start, moves.end));
    }

    /// A queue had a poll. The moves to be made inside of it, where it is the last that is waited for.
    pub(super) fn count(&self, number: usize) -> Range<usize> {
        if self.is_over() {
            return 0..0;
        }
        let counts = self.of.get().is_none_or(|of| of == number);
        self.left.set(self.left.get() - u32::from(counts));
        self.patience.set(self.patience.get() - 1);
        if self.is_over()
            && let Some(waker) = self.waker.take()
        {
            waker.wake();
        }
        let (from, to) = if self.left.get() == 0 { self.moves.get() } else { (0, 0) };
        from..to
    }

    /// Whether it is over.
    pub(super) fn poll(&self, cx: &mut Context<'_>) -> Poll<()> {
        if self.is_over() {
            return Poll::Ready(());
        }
        self.waker.set(Some(cx.waker().clone()));
        Poll::Pending
    }

    /// Ends it early.
    pub(super) fn end(&self) {
        self.left.set(0);
    }

    fn is_over(&self) -> bool {
        self.left.get() == 0 || self.patience.get() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_ends_with_the_last_poll_or_where_none_comes() {
        let (wait, mut cx) = (Wait::default(), Context::from_waker(Waker::noop()));
        wait.begin(2, Some(1), 3..5);
        assert!(wait.poll(&mut cx).is_pending());
        assert_eq!([0, 1, 0, 1].map(|number| wait.count(number)), [0..0, 0..0, 0..0, 3..5]);
        assert!(wait.poll(&mut cx).is_ready());
        assert_eq!(wait.count(1), 0..0);
        wait.begin(1, Some(1), 3..5);
        assert!((0..PATIENCE).all(|_| wait.count(0) == (0..0)));
        assert!(wait.poll(&mut cx).is_ready());
    }
}
