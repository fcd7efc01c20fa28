//! The main future: it makes the moves, and waits in between.

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::ops::Range;
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use clockworker::{JoinHandle, yield_now};

use super::scene::Scene;
use super::{Act, How, Where};

pub(super) async fn make_moves(scene: Rc<Scene>) {
    let moves = scene.program.moves.clone();
    while scene.next_cycle() {
        let mut next = 0;
        while let Some(&act) = moves.get(next) {
            next += 1;
            scene.count_move();
            match act {
                Act::Rest { polls, of, next: place } => {
                    let is_left = |act: &&Act| place == Where::Poll && act.is_for_all();
                    let resumes = next + moves[next..].iter().take_while(is_left).count();
                    scene.wait.begin(polls, of, next..resumes);
                    poll_fn(|cx| scene.wait.poll(cx)).await;
                    next = resumes;
                }
                Act::Spawn { queue, polls, drop, how: How::Await } => {
                    scene.wait.begin(u32::MAX, None, 0..0);
                    if let Some(task) = scene.spawn(queue, polls, drop, How::Await) {
                        join(&scene, task).await;
                    }
                }
                Act::Yield => yield_now().await,
                act => scene.act(act),
            }
        }
    }
}

/// Awaits a task, as long as patience lasts.
async fn join(scene: &Scene, task: JoinHandle<()>) {
    let mut task = pin!(task);
    poll_fn(|cx| match task.as_mut().poll(cx) {
        Poll::Ready(_) => Poll::Ready(()),
        Poll::Pending => scene.wait.poll(cx),
    })
    .await;
    scene.wait.left.set(0);
}

/// Counts polls for the main future, and wakes it.
#[derive(Default)]
pub(super) struct Wait {
    /// Polls until it is over.
    left: Cell<u32>,
    /// Polls of that queue alone count.
    of: Cell<Option<usize>>,
    /// Polls of any queue until it is given up.
    patience: Cell<u32>,
    /// What is to be done inside the last poll.
    moves: Cell<Range<usize>>,
    waker: Cell<Option<Waker>>,
}

/// The most polls of one wait: a queue that is never polled must not hold up the play.
const PATIENCE: u32 = 400;

impl Wait {
    pub(super) fn begin(&self, polls: u32, of: Option<usize>, moves: Range<usize>) {
        self.left.set(polls);
        self.of.set(of);
        self.patience.set(PATIENCE);
        self.moves.set(moves);
    }

    /// A queue had a poll. The moves to be made inside of it, where it is the last that is waited for.
    pub(super) fn count(&self, number: usize) -> Range<usize> {
        if self.is_over() {
            return 0..0;
        }
        let counts = self.of.get().is_none_or(|of| of == number);
        self.left.set(self.left.get() - u32::from(counts));
        self.patience.set(self.patience.get() - 1);
        if self.is_over() {
            self.waker.take().into_iter().for_each(Waker::wake);
        }
        if self.left.get() == 0 { self.moves.take() } else { 0..0 }
    }

    pub(super) fn poll(&self, cx: &mut Context<'_>) -> Poll<()> {
        if self.is_over() {
            return Poll::Ready(());
        }
        self.waker.set(Some(cx.waker().clone()));
        Poll::Pending
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
