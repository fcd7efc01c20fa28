//! Bare loops, which do nothing but poll: what there is to be had below an executor.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use async_task::Runnable;
use futures::future::LocalBoxFuture;

use super::joined::{Joined, join};
use super::runner::Runner;

/// How often all boxed futures are polled before the root is looked at, if none of them ends.
const LAPS: u32 = 64;

/// The least that polling can cost: boxed futures in a ring, polled whether woken or not, as wakers do nothing.
#[derive(Default)]
pub(crate) struct BoxedLoop {
    ring: RefCell<VecDeque<LocalBoxFuture<'static, ()>>>,
    ended: Cell<bool>,
}

impl Runner for BoxedLoop {
    type Task = Joined;

    fn spawn(&self, lane: usize, task: impl Future<Output = ()> + 'static) -> Joined {
        let (task, joined) = join(task);
        self.spawn_detached(lane, task);
        joined
    }

    fn spawn_detached(&self, _lane: usize, task: impl Future<Output = ()> + 'static) {
        self.ring.borrow_mut().push_back(Box::pin(task));
    }

    fn abort(_task: Joined) {
        unreachable!("a bare loop cannot abort");
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

/// How many of async-task's tasks are polled before the root is looked at again.
const TURN: usize = 61;

thread_local! {
    static RING: RefCell<VecDeque<Runnable>> = const { RefCell::new(VecDeque::new()) };
}

/// What a task cell from crates.io costs, and nothing else: a FIFO ring of async-task's runnables, with a schedule function
/// without state.
///
/// Made by the safe `spawn_local`, which checks the thread at every poll. Its tasks must be woken on its thread.
#[derive(Default)]
pub(crate) struct TaskLoop(());

struct Root(AtomicBool);

impl Wake for Root {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.store(true, Ordering::Release);
    }
}

impl Runner for TaskLoop {
    type Task = async_task::Task<()>;

    fn spawn(&self, _lane: usize, task: impl Future<Output = ()> + 'static) -> Self::Task {
        let (runnable, task) = async_task::spawn_local(task, |runnable| {
            RING.with_borrow_mut(|ring| ring.push_back(runnable));
        });
        runnable.schedule();
        task
    }

    fn spawn_detached(&self, lane: usize, task: impl Future<Output = ()> + 'static) {
        self.spawn(lane, task).detach();
    }

    fn block_on<F: Future>(&self, root: F) -> F::Output {
        // What a loop before this one has left is not run any more.
        drop(RING.take());
        let mut root = pin!(root);
        let flag = Arc::new(Root(AtomicBool::new(true)));
        let waker = Waker::from(flag.clone());
        loop {
            if flag.0.load(Ordering::Acquire) {
                flag.0.store(false, Ordering::Relaxed);
                if let Poll::Ready(output) = root.as_mut().poll(&mut Context::from_waker(&waker)) {
                    return output;
                }
            }
            for _ in 0..TURN {
                let Some(runnable) = RING.with_borrow_mut(VecDeque::pop_front) else { break };
                runnable.run();
            }
        }
    }
}

impl Drop for TaskLoop {
    fn drop(&mut self) {
        drop(RING.take());
    }
}
