//! Wakes of waiting tasks, and the polls they cause.

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::task::{Poll, Waker};

use clockworker::schedulers::RunnableFifo;
use clockworker::{Executor, ManualClock};
use tokio::task::LocalSet;

use super::{MOST, POLL, Workload, drive, elsewhere, executor, run_dry};

/// Tasks in a circle, of which each wakes the next.
#[derive(Clone)]
struct Circle {
    clock: ManualClock,
    wakers: Rc<RefCell<Vec<Waker>>>,
    left: Rc<Cell<u64>>,
}

impl Circle {
    const SIZE: usize = 100;

    fn new(clock: &ManualClock) -> Self {
        Circle { clock: clock.clone(), wakers: Rc::default(), left: Rc::default() }
    }

    /// One of the tasks. The first poll says how to wake it.
    fn member(&self, place: usize) -> impl Future<Output = ()> + 'static {
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

    /// Has the next `hops` of them woken, one after the other.
    fn start(&self, hops: u64) {
        self.left.set(hops);
        self.wakers.borrow()[0].wake_by_ref();
    }
}

pub(super) fn hop() -> Workload {
    let clock = ManualClock::new();
    let executor = executor(&clock, RunnableFifo::new());
    let circle = Circle::new(&clock);
    for place in 0..Circle::SIZE {
        executor.spawn(circle.member(place));
    }
    run_dry(&executor);
    Box::new(move |n, region| {
        circle.start(n);
        region.count(n, &mut || run_dry(&executor));
        assert_eq!(circle.left.get(), 0);
    })
}

pub(super) fn local_set_hop() -> Workload {
    let clock = ManualClock::new();
    let local = LocalSet::new();
    let circle = Circle::new(&clock);
    for place in 0..Circle::SIZE {
        local.spawn_local(circle.member(place));
    }
    let run_dry = move || assert!(drive(pin!(local.run_until(std::future::pending::<()>()))).is_pending());
    run_dry();
    Box::new(move |n, region| {
        circle.start(n);
        region.count(n, &mut || run_dry());
        assert_eq!(circle.left.get(), 0);
    })
}

/// Tasks that wait for nothing in particular.
struct Waiting {
    executor: Executor,
    wakers: Vec<Waker>,
}

impl Waiting {
    fn new() -> Self {
        let executor = executor(&ManualClock::new(), RunnableFifo::new());
        let wakers = Rc::new(RefCell::new(Vec::with_capacity(MOST as usize)));
        for _ in 0..MOST {
            let wakers = wakers.clone();
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

    fn wakers(&self, n: u64) -> &[Waker] {
        &self.wakers[..n as usize]
    }

    /// Polls those that were woken, as nothing but what is counted next may be left to do.
    fn settle(&self) {
        run_dry(&self.executor);
    }
}

fn wake(wakers: &[Waker]) {
    for waker in wakers {
        waker.wake_by_ref();
    }
}

pub(super) fn own() -> Workload {
    let tasks = Waiting::new();
    Box::new(move |n, region| {
        region.count(n, &mut || wake(tasks.wakers(n)));
        tasks.settle();
    })
}

pub(super) fn own_again() -> Workload {
    let tasks = Waiting::new();
    Box::new(move |n, region| {
        wake(tasks.wakers(n));
        region.count(n, &mut || wake(tasks.wakers(n)));
        tasks.settle();
    })
}

pub(super) fn poll_own() -> Workload {
    let tasks = Waiting::new();
    Box::new(move |n, region| {
        wake(tasks.wakers(n));
        region.count(n, &mut || run_dry(&tasks.executor));
    })
}

pub(super) fn remote() -> Workload {
    let tasks = Waiting::new();
    Box::new(move |n, region| {
        let wakers = tasks.wakers(n);
        elsewhere(|| region.count(n, &mut || wake(wakers)));
        tasks.settle();
    })
}

pub(super) fn remote_again() -> Workload {
    let tasks = Waiting::new();
    Box::new(move |n, region| {
        let wakers = tasks.wakers(n);
        elsewhere(|| {
            wake(wakers);
            region.count(n, &mut || wake(wakers));
        });
        tasks.settle();
    })
}

pub(super) fn poll_remote() -> Workload {
    let tasks = Waiting::new();
    Box::new(move |n, region| {
        let wakers = tasks.wakers(n);
        elsewhere(|| wake(wakers));
        region.count(n, &mut || run_dry(&tasks.executor));
    })
}
