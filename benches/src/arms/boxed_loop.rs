//! A bare loop over boxed futures, which does nothing but poll: what there is to be had below an executor.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use futures_util::future::LocalBoxFuture;
use tokio::sync::oneshot;

use super::Runner;

/// How often all boxed futures are polled before the root is looked at, if none of them ends.
const LAPS: u32 = 64;

/// The least that polling can cost: boxed futures in a ring, polled whether woken or not, as wakers do nothing.
#[derive(Default)]
pub(super) struct BoxedLoop {
    ring: RefCell<VecDeque<LocalBoxFuture<'static, ()>>>,
    ended: Cell<bool>,
}

impl Runner for BoxedLoop {
    type Task = oneshot::Receiver<()>;

    fn spawn(&self, lane: usize, task: impl Future<Output = ()> + 'static) -> Self::Task {
        let (ended, joined) = oneshot::channel();
        self.spawn_detached(lane, async move {
            task.await;
            let _ = ended.send(());
        });
        joined
    }

    fn spawn_detached(&self, _lane: usize, task: impl Future<Output = ()> + 'static) {
        self.ring.borrow_mut().push_back(Box::pin(task));
    }

    fn block_on<F: Future>(&self, root: F) -> F::Output {
        let mut root = pin!(root);
        loop {
            if let Poll::Ready(output) = root.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                return output;
            }
            self.ended.set(false);
            for _ in 0..LAPS {
                self.lap();
                if self.ended.get() {
                    break;
                }
            }
        }
    }
}

impl BoxedLoop {
    /// Polls every task once. Only the root spawns, so the ring is this loop's for the time.
    fn lap(&self) {
        let mut ring = self.ring.borrow_mut();
        let mut cx = Context::from_waker(Waker::noop());
        for _ in 0..ring.len() {
            let mut task = ring.pop_front().expect("it was counted");
            match task.as_mut().poll(&mut cx) {
                Poll::Ready(()) => self.ended.set(true),
                Poll::Pending => ring.push_back(task),
            }
        }
    }
}
