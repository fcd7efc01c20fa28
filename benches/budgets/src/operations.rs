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
use std::future::{Future, pending};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::Duration;

use clockworker::schedulers::{RunnableFifo, Scheduler};
use clockworker::{Executor, ManualClock};
use tokio::task::LocalSet;

use crate::region::Region;

/// Something an executor does, often.
#[derive(Clone, Copy)]
pub struct Operation {
    /// Its name in the file of budgets.
    pub key: &'static str,
    /// Its name in the table.
    pub title: &'static str,
    /// Whether it is clockworker's and has a budget. Otherwise it is there to be compared with.
    pub is_budgeted: bool,
    /// Has the region count as many operations as [`SIZES`] says, one size after the other.
    pub run: fn(&dyn Region),
}

/// The most operations that are counted at once.
const MOST: u64 = 20_000;

/// What a region is asked to count, in this order. The first makes everything grow that grows; the difference of the
/// other two is [`COUNTED_OPERATIONS`] operations, free of what happens once.
pub const SIZES: [u64; 3] = [MOST, MOST / 2, MOST];

/// By how many operations the last two of [`SIZES`] differ.
pub const COUNTED_OPERATIONS: u64 = SIZES[2] - SIZES[1];

impl Operation {
    const fn ours(key: &'static str, title: &'static str, run: fn(&dyn Region)) -> Self {
        Operation { key, title, is_budgeted: true, run }
    }

    const fn theirs(key: &'static str, title: &'static str, run: fn(&dyn Region)) -> Self {
        Operation { key, title, is_budgeted: false, run }
    }

    /// Every operation, in the order of the table: those with a budget first.
    pub fn all() -> Vec<Operation> {
        let tables = [polls::TABLE, wakes::TABLE, spawns::TABLE, queues::TABLE, turns::TABLE];
        let mut all = tables.concat();
        all.sort_by_key(|operation| !operation.is_budgeted);
        all
    }

    /// The operation of that key.
    pub fn find(key: &str) -> Option<Operation> {
        Operation::all().into_iter().find(|operation| operation.key == key)
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

/// An executor under RunnableFifo, whose time stands still.
fn timeless() -> Executor {
    executor(&ManualClock::new(), RunnableFifo::new())
}

/// What polls tasks: our executor, or tokio's LocalSet, which the same operation is counted with.
trait RunsTasks {
    /// Spawns a task that is not joined.
    fn spawn(&self, task: impl Future<Output = ()> + 'static);

    /// Polls tasks until `root` is done.
    fn run_until<F: Future>(&self, root: F) -> impl Future<Output = F::Output>;
}

impl RunsTasks for Executor {
    fn spawn(&self, task: impl Future<Output = ()> + 'static) {
        Executor::spawn(self, task);
    }

    fn run_until<F: Future>(&self, root: F) -> impl Future<Output = F::Output> {
        Executor::run_until(self, root)
    }
}

impl RunsTasks for LocalSet {
    fn spawn(&self, task: impl Future<Output = ()> + 'static) {
        self.spawn_local(task);
    }

    fn run_until<F: Future>(&self, root: F) -> impl Future<Output = F::Output> {
        LocalSet::run_until(self, root)
    }
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
fn run_dry(tasks: &impl RunsTasks) {
    assert!(drive(pin!(tasks.run_until(pending::<()>()))).is_pending());
}

/// Runs until `root` is done.
fn run_until<F: Future>(tasks: &impl RunsTasks, root: F) -> F::Output {
    match drive(pin!(tasks.run_until(root))) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("the executor is idle before the future is done"),
    }
}

/// Does `work` on another thread, of which nothing is left afterwards: what a thread does at its end would otherwise be
/// counted with what follows. (A scope alone does not wait for that.)
fn elsewhere(work: impl FnOnce() + Send) {
    thread::scope(|scope| scope.spawn(work).join().expect("no workload panics"));
}
