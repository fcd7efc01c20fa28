//! Polls of tasks that wake themselves.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use clockworker::schedulers::{FairGroups, Las, Qlas, RunnableFifo, Scheduler, Serpt, WokenFirst};
use clockworker::{DEFAULT_REQUEST, ManualClock, Queue};
use tokio::task::LocalSet;

use super::{Operation, POLL, RunsTasks, SIZES, executor, run_dry};
use crate::region::Region;

pub(super) const TABLE: &[Operation] = &[
    Operation::ours("poll_one_queue", "poll, one queue", |region| under(RunnableFifo::new(), region)),
    Operation::ours("poll_by_default", "poll, WokenFirst", |region| under(WokenFirst::new(), region)),
    // The host is due before a request is spent.
    Operation::ours("poll_two_queues", "poll, two queues", |region| in_two_queues(DEFAULT_REQUEST, region)),
    Operation::ours("poll_qlas", "poll, Qlas", |region| under(Qlas::new(), region)),
    Operation::ours("poll_las", "poll, Las", |region| under(Las::new(), region)),
    Operation::ours("poll_serpt", "poll, Serpt", |region| under(Serpt::new(), region)),
    Operation::ours("poll_fair_groups", "poll, FairGroups", |region| under(FairGroups::new(), region)),
    // Each poll spends a request, so each is a slice of its own, and the queues take turns.
    Operation::ours("poll_of_a_slice_each", "poll, two queues, a slice each", |region| {
        in_two_queues(POLL, region);
    }),
    Operation::theirs("alone", "the polled future alone", alone),
    Operation::theirs("local_set_poll", "LocalSet: poll", |region| {
        in_one_queue(&LocalSet::new(), &ManualClock::new(), region);
    }),
];

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

fn under(scheduler: impl Scheduler + 'static, region: &dyn Region) {
    let clock = ManualClock::new();
    in_one_queue(&executor(&clock, scheduler), &clock, region);
}

fn in_one_queue(tasks: &impl RunsTasks, clock: &ManualClock, region: &dyn Region) {
    for n in SIZES {
        for _ in 0..TASKS {
            tasks.spawn(Ticking::new(clock, n / TASKS));
        }
        region.count(n, &mut || run_dry(tasks));
    }
}

/// Both queues are ready all the time.
fn in_two_queues(request: Duration, region: &dyn Region) {
    let clock = ManualClock::new();
    let executor = executor(&clock, RunnableFifo::new());
    let create = |name| executor.new_queue(name).request(request).create().expect("the names are different");
    let queues: [Queue; 2] = ["even", "odd"].map(create);
    for n in SIZES {
        for _ in 0..TASKS / 2 {
            for queue in &queues {
                queue.spawn(Ticking::new(&clock, n / TASKS));
            }
        }
        region.count(n, &mut || run_dry(&executor));
    }
}

/// What is in each of the others and is not the executor's: the future's own poll, called directly.
fn alone(region: &dyn Region) {
    let clock = ManualClock::new();
    for n in SIZES {
        let mut future: Pin<Box<dyn Future<Output = ()>>> = Box::pin(Ticking::new(&clock, n));
        let mut cx = Context::from_waker(Waker::noop());
        region.count(n, &mut || while future.as_mut().poll(&mut cx).is_pending() {});
    }
}
