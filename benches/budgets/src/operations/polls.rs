//! Polls of tasks that wake themselves.

use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use clockworker::schedulers::{ArrivalFifo, Las, Qlas, RunnableFifo, Scheduler, Serpt};
use clockworker::{ManualClock, Queue};
use tokio::task::LocalSet;

use super::{POLL, Workload, drive, executor, run_dry};

/// Tasks that are ready all the time.
const TASKS: u64 = 100;

/// Wakes itself until it has been polled so often, each time a while later.
struct Ticking {
    clock: ManualClock,
    left: u64,
}

impl Ticking {
    fn new(clock: &ManualClock, polls: u64) -> Self {
        Ticking { clock: clock.clone(), left: polls }
    }
}

impl Future for Ticking {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.clock.advance(POLL);
        let Some(left) = self.left.checked_sub(1) else { return Poll::Ready(()) };
        self.left = left;
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

pub(super) fn one_queue() -> Workload {
    with(RunnableFifo::new())
}

pub(super) fn arrival_fifo() -> Workload {
    with(ArrivalFifo::new())
}

pub(super) fn qlas() -> Workload {
    with(Qlas::new())
}

pub(super) fn las() -> Workload {
    with(Las::new())
}

pub(super) fn serpt() -> Workload {
    with(Serpt::new())
}

fn with(scheduler: impl Scheduler + 'static) -> Workload {
    let clock = ManualClock::new();
    let executor = executor(&clock, scheduler);
    Box::new(move |n, region| {
        for _ in 0..TASKS {
            executor.spawn(Ticking::new(&clock, n / TASKS));
        }
        region.count(n, &mut || run_dry(&executor));
    })
}

/// Both queues are ready all the time; the host is due before a request is spent.
pub(super) fn two_queues() -> Workload {
    in_two_queues(clockworker::DEFAULT_REQUEST)
}

/// Each poll spends a request, so each is a slice of its own, and the queues take turns.
pub(super) fn slice_each() -> Workload {
    in_two_queues(POLL)
}

fn in_two_queues(request: std::time::Duration) -> Workload {
    let clock = ManualClock::new();
    let executor = executor(&clock, RunnableFifo::new());
    let create = |name| executor.new_queue(name).request(request).create().expect("the names are different");
    let queues: [Queue; 2] = ["even", "odd"].map(create);
    Box::new(move |n, region| {
        for _ in 0..TASKS / 2 {
            for queue in &queues {
                queue.spawn(Ticking::new(&clock, n / TASKS));
            }
        }
        region.count(n, &mut || run_dry(&executor));
    })
}

pub(super) fn local_set() -> Workload {
    let clock = ManualClock::new();
    let local = LocalSet::new();
    Box::new(move |n, region| {
        for _ in 0..TASKS {
            local.spawn_local(Ticking::new(&clock, n / TASKS));
        }
        region.count(n, &mut || {
            let polled = drive(pin!(local.run_until(std::future::pending::<()>())));
            assert!(polled.is_pending());
        });
    })
}

/// What is in each of the others and is not the executor's: the future's own poll, called directly.
pub(super) fn alone() -> Workload {
    let clock = ManualClock::new();
    Box::new(move |n, region| {
        let mut future: Pin<Box<dyn Future<Output = ()>>> = Box::pin(Ticking::new(&clock, n));
        let mut cx = Context::from_waker(Waker::noop());
        region.count(n, &mut || while future.as_mut().poll(&mut cx).is_pending() {});
    })
}
