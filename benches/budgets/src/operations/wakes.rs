//! Wakes of waiting tasks, and the polls they cause.

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::rc::Rc;
use std::task::{Poll, Waker};

use clockworker::schedulers::{RunnableFifo, WokenFirst};
use clockworker::{Executor, ManualClock, Queue};
use tokio::task::LocalSet;

use super::{MOST, Operation, POLL, RunsTasks, SIZES, elsewhere, executor, run_dry, timeless};
use crate::region::Region;

pub(super) const TABLE: &[Operation] = &[
    Operation::ours("hop", "hop: wake another task, and its poll", |region| {
        let clock = ManualClock::new();
        hop(&executor(&clock, RunnableFifo::new()), &clock, region);
    }),
    Operation::ours("hop_by_default", "the same, WokenFirst", |region| {
        let clock = ManualClock::new();
        hop(&executor(&clock, WokenFirst::new()), &clock, region);
    }),
    Operation::ours("hop_between_queues", "the same, into another queue each time", |region| {
        let clock = ManualClock::new();
        hop(&InTurn::new(executor(&clock, WokenFirst::new())), &clock, region);
    }),
    Operation::ours("wake", "wake, between turns", |region| {
        Waiting::rounds(|wakers, n| region.count(n, &mut || wake(wakers)));
    }),
    Operation::ours("wake_again", "wake, already awake", |region| {
        Waiting::rounds(|wakers, n| {
            wake(wakers);
            region.count(n, &mut || wake(wakers));
        });
    }),
    Operation::ours("poll_woken", "poll after it, with admission", |region| {
        polls_after_wakes(&Waiting::new(MOST), region);
    }),
    Operation::ours("poll_woken_by_default", "the same, WokenFirst", |region| {
        let executor = executor(&ManualClock::new(), WokenFirst::new());
        polls_after_wakes(&Waiting::on(executor, MOST), region);
    }),
    Operation::ours("wake_remote", "wake, other thread", |region| {
        Waiting::rounds(|wakers, n| elsewhere(|| region.count(n, &mut || wake(wakers))));
    }),
    Operation::ours("wake_remote_again", "wake, other thread, already awake", |region| {
        Waiting::rounds(|wakers, n| {
            elsewhere(|| {
                wake(wakers);
                region.count(n, &mut || wake(wakers));
            });
        });
    }),
    Operation::ours("poll_woken_remotely", "poll after it, with admission", |region| {
        let Waiting { executor, wakers } = Waiting::new(MOST);
        for n in SIZES {
            let wakers = &wakers[..n as usize];
            elsewhere(|| wake(wakers));
            region.count(n, &mut || run_dry(&executor));
        }
    }),
    Operation::theirs("local_set_hop", "LocalSet: hop", |region| {
        hop(&LocalSet::new(), &ManualClock::new(), region);
    }),
];

/// An executor with two queues, to which tasks are spawned in turn.
struct InTurn {
    executor: Executor,
    queues: [Queue; 2],
    spawned: Cell<usize>,
}

impl InTurn {
    fn new(executor: Executor) -> Self {
        let other = executor.new_queue("other").create().expect("the defaults are valid");
        InTurn { queues: [executor.default_queue().clone(), other], executor, spawned: Cell::new(0) }
    }
}

impl RunsTasks for InTurn {
    fn spawn(&self, task: impl Future<Output = ()> + 'static) {
        let count = self.spawned.replace(self.spawned.get() + 1);
        self.queues[count % 2].spawn(task);
    }

    fn run_until<F: Future>(&self, root: F) -> impl Future<Output = F::Output> {
        self.executor.run_until(root)
    }
}

/// Tasks in a circle, of which each wakes the next.
#[derive(Clone)]
struct Circle {
    clock: ManualClock,
    wakers: Rc<RefCell<Vec<Waker>>>,
    left: Rc<Cell<u64>>,
}

impl Circle {
    const SIZE: usize = 100;

    /// One of the tasks. The first poll says how to wake it.
    fn member(&self, place: usize) -> impl Future<Output = ()> + use<> {
        let Circle { clock, wakers, left } = self.clone();
        let mut is_known = false;
        poll_fn(move |cx| {
            clock.advance(POLL);
            if !is_known {
                is_known = true;
                wakers.borrow_mut().push(cx.waker().clone());
            } else if let Some(rest) = left.get().checked_sub(1) {
                left.set(rest);
                wakers.borrow()[(place + 1) % Circle::SIZE].wake_by_ref();
            }
            Poll::Pending
        })
    }
}

fn hop(tasks: &impl RunsTasks, clock: &ManualClock, region: &dyn Region) {
    let circle = Circle { clock: clock.clone(), wakers: Rc::default(), left: Rc::default() };
    for place in 0..Circle::SIZE {
        tasks.spawn(circle.member(place));
    }
    run_dry(tasks);
    for n in SIZES {
        circle.left.set(n);
        circle.wakers.borrow()[0].wake_by_ref();
        region.count(n, &mut || run_dry(tasks));
        assert_eq!(circle.left.get(), 0);
    }
}

/// Tasks that wait for nothing in particular, and their wakers.
pub(super) struct Waiting {
    pub(super) executor: Executor,
    pub(super) wakers: Vec<Waker>,
}

impl Waiting {
    pub(super) fn new(count: u64) -> Self {
        Self::on(timeless(), count)
    }

    fn on(executor: Executor, count: u64) -> Self {
        let wakers = Rc::new(RefCell::new(Vec::with_capacity(count as usize)));
        for _ in 0..count {
            let wakers = Rc::clone(&wakers);
            let mut is_known = false;
            executor.spawn(poll_fn(move |cx| {
                if !is_known {
                    is_known = true;
                    wakers.borrow_mut().push(cx.waker().clone());
                }
                Poll::<()>::Pending
            }));
        }
        run_dry(&executor);
        let wakers = wakers.take();
        Waiting { executor, wakers }
    }

    /// Calls `wake` with so many wakers as each of [`SIZES`] says, and polls what that woke.
    fn rounds(wake: impl Fn(&[Waker], u64)) {
        let Waiting { executor, wakers } = Waiting::new(MOST);
        for n in SIZES {
            wake(&wakers[..n as usize], n);
            run_dry(&executor);
        }
    }
}

fn polls_after_wakes(waiting: &Waiting, region: &dyn Region) {
    for n in SIZES {
        wake(&waiting.wakers[..n as usize]);
        region.count(n, &mut || run_dry(&waiting.executor));
    }
}

pub(super) fn wake(wakers: &[Waker]) {
    wakers.iter().for_each(Waker::wake_by_ref);
}
