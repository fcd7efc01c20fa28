//! The operations that have budgets, and LocalSet's beside them.
//!
//! Time stands still or moves by 100 ns per poll (`ManualClock`), and the host is a loop, so that nothing here depends
//! on the machine. What the host itself costs is therefore not in the counts, nor is what a real clock costs.

mod polls;
mod queues;
mod spawns;
mod turns;
mod wakes;

use std::fmt;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::Duration;

use clockworker::schedulers::Scheduler;
use clockworker::{Executor, ManualClock};

use crate::region::Region;

/// An operation's workload: prepares `n` operations and has the region count them.
pub type Workload = Box<dyn FnMut(u64, &dyn Region)>;

/// Something an executor does, often.
#[derive(Clone, Copy)]
pub struct Operation {
    /// Its name in the file of budgets.
    pub key: &'static str,
    /// Its name in the table.
    pub title: &'static str,
    /// Whether it is clockworker's and has a budget. Otherwise it is there to be compared with.
    pub is_budgeted: bool,
    make: fn() -> Workload,
}

/// The most operations that a workload is asked for at once.
pub const MOST: u64 = 20_000;

/// What a region is asked to count, in this order. The first makes everything grow that grows; the difference of the
/// other two is [`COUNTED_OPERATIONS`] operations, free of what happens once.
pub const SIZES: [u64; 3] = [MOST, MOST / 2, MOST];

/// By how many operations the last two of [`SIZES`] differ.
pub const COUNTED_OPERATIONS: u64 = SIZES[2] - SIZES[1];

impl Operation {
    const fn ours(key: &'static str, title: &'static str, make: fn() -> Workload) -> Self {
        Operation { key, title, is_budgeted: true, make }
    }

    const fn theirs(key: &'static str, title: &'static str, make: fn() -> Workload) -> Self {
        Operation { key, title, is_budgeted: false, make }
    }

    /// Every operation, in the order of the table.
    pub const ALL: [Operation; 35] = [
        Operation::ours("poll_one_queue", "poll, one queue", polls::one_queue),
        Operation::ours("poll_two_queues", "poll, two queues", polls::two_queues),
        Operation::ours("poll_arrival_fifo", "poll, ArrivalFifo", polls::arrival_fifo),
        Operation::ours("poll_qlas", "poll, Qlas", polls::qlas),
        Operation::ours("poll_las", "poll, Las", polls::las),
        Operation::ours("poll_serpt", "poll, Serpt", polls::serpt),
        Operation::ours("poll_of_a_slice_each", "poll, two queues, a slice each", polls::slice_each),
        Operation::ours("hop", "hop: wake another task, and its poll", wakes::hop),
        Operation::ours("wake", "wake, between turns", wakes::own),
        Operation::ours("wake_again", "wake, already awake", wakes::own_again),
        Operation::ours("poll_woken", "poll after it, with admission", wakes::poll_own),
        Operation::ours("wake_remote", "wake, other thread", wakes::remote),
        Operation::ours("wake_remote_again", "wake, other thread, already awake", wakes::remote_again),
        Operation::ours("poll_woken_remotely", "poll after it, with admission", wakes::poll_remote),
        Operation::ours("spawn", "spawn", spawns::spawn),
        Operation::ours("finish_detached", "first poll and end, detached", spawns::finish_detached),
        Operation::ours("spawn_and_join", "spawn, poll, join", spawns::spawn_and_join),
        Operation::ours("spawn_remote", "spawn, other thread", spawns::spawn_remote),
        Operation::ours("finish_remote", "admission, first poll and end of it", spawns::finish_remote),
        Operation::ours("join_set", "spawn, poll, join, in a JoinSet", spawns::join_set),
        Operation::ours("abort", "abort a waiting task, and its end", spawns::abort),
        Operation::ours("pick_2", "pick and charge, 2 queues", queues::pick::<2>),
        Operation::ours("pick_64", "pick and charge, 64 queues", queues::pick::<64>),
        Operation::ours("pick_1024", "pick and charge, 1,024 queues", queues::pick::<1_024>),
        Operation::ours("sleep_and_wake_64", "a queue of 64 sleeps and wakes", queues::sleep_and_wake),
        Operation::ours("idle_turn", "turn with nothing to do", turns::idle),
        Operation::ours(
            "turn_of_one_task",
            "the only task's wake, and a turn with its poll",
            turns::of_one_task,
        ),
        Operation::ours("yield_if_due", "yield_if_due, not due", turns::not_due),
        Operation::ours(
            "should_yield_beside_arrivals",
            "should_yield, not due, 1,000 tasks woken",
            turns::not_due_beside_arrivals,
        ),
        Operation::theirs("alone", "the polled future alone", polls::alone),
        Operation::theirs("local_set_poll", "LocalSet: poll", polls::local_set),
        Operation::theirs("local_set_hop", "LocalSet: hop", wakes::local_set_hop),
        Operation::theirs("local_set_spawn_and_join", "LocalSet: spawn, poll, join", spawns::local_set),
        Operation::theirs("local_set_idle_turn", "LocalSet: turn with nothing to do", turns::local_set_idle),
        Operation::theirs(
            "local_set_turn_of_one_task",
            "LocalSet: the only task's wake, and a turn with its poll",
            turns::local_set_of_one_task,
        ),
    ];

    /// The operation of that key.
    pub fn find(key: &str) -> Option<Operation> {
        Operation::ALL.into_iter().find(|operation| operation.key == key)
    }

    /// Has `region` count all of [`SIZES`].
    pub fn run(&self, region: &dyn Region) {
        let mut workload = (self.make)();
        for n in SIZES {
            workload(n, region);
        }
    }
}

impl fmt::Debug for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.key)
    }
}

/// What each poll advances the clock by.
const POLL: Duration = Duration::from_nanos(100);

/// How long a turn may take: with such polls, 2,000 of them.
const HOST_BUDGET: Duration = Duration::from_micros(200);

/// An executor with its clock.
fn executor(clock: &ManualClock, scheduler: impl Scheduler + 'static) -> Executor {
    let built =
        Executor::builder().scheduler(scheduler).clock(clock.clone()).host_budget(HOST_BUDGET).build();
    built.expect("the defaults are valid")
}

/// A host: polls as long as it is woken.
#[derive(Default)]
struct Host {
    woken: AtomicBool,
}

impl Wake for Host {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.woken.store(true, Ordering::Relaxed);
    }
}

/// Polls `driver` until it is done, or idle.
fn drive<F: Future>(mut driver: Pin<&mut F>) -> Poll<F::Output> {
    let host = Arc::new(Host::default());
    let waker = Waker::from(host.clone());
    let mut cx = Context::from_waker(&waker);
    loop {
        host.woken.store(false, Ordering::Relaxed);
        let polled = driver.as_mut().poll(&mut cx);
        if polled.is_ready() || !host.woken.load(Ordering::Relaxed) {
            return polled;
        }
    }
}

/// Runs what there is to run.
fn run_dry(executor: &Executor) {
    let polled = drive(pin!(executor.run_until(std::future::pending::<()>())));
    assert!(polled.is_pending());
}

/// Runs until `root` is done.
fn run_until<F: Future>(executor: &Executor, root: F) -> F::Output {
    match drive(pin!(executor.run_until(root))) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("the executor is idle before the future is done"),
    }
}

/// Does `work` on another thread, of which nothing is left afterwards: what a thread does at its end would otherwise be
/// counted with what follows. (A scope alone does not wait for that.)
fn elsewhere(work: impl FnOnce() + Send) {
    thread::scope(|scope| scope.spawn(work).join().expect("no workload panics"));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::sync::atomic::AtomicU64;

    #[derive(Default)]
    struct Calls(AtomicU64);

    impl Region for Calls {
        fn count(&self, _: u64, work: &mut dyn FnMut()) {
            work();
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn every_operation_is_counted_once_per_size() {
        for operation in Operation::ALL {
            let calls = Calls::default();
            operation.run(&calls);
            assert_eq!(calls.0.into_inner(), SIZES.len() as u64, "{operation:?}");
        }
    }

    #[test]
    fn keys_are_unique_and_found() {
        let keys: BTreeSet<&str> = Operation::ALL.iter().map(|operation| operation.key).collect();
        assert_eq!(keys.len(), Operation::ALL.len());
        assert_eq!(Operation::find("hop").map(|operation| operation.key), Some("hop"));
        assert!(Operation::find("hops").is_none());
    }
}
