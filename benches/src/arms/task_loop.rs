//! A bare loop over async-task's tasks.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use async_task::Runnable;

use super::Runner;

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
pub(super) struct TaskLoop(());

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
