//! Promise 10: nothing is left of a task that has ended, however it ended.
//!
//! One test, as it counts what the whole process allocates.

#![allow(clippy::print_stdout, reason = "the figures of RELIABILITY.md, shown by `--nocapture`")]

use std::future::{pending, poll_fn};
use std::task::Poll;

use clockworker::{Executor, ExecutorStats, JoinHandle, Queue, yield_now};
use clockworker_testing::effort::pick;
use clockworker_testing::memory::{Allocated, COUNTING, Counting, Resident};
use clockworker_testing::panics::{PanicsWhenDropped, panic_as_meant};
use clockworker_testing::policy::Policy;

#[global_allocator]
static ALLOCATOR: Counting = COUNTING;

/// Tasks that are there at the same time.
const BATCH: usize = 1_000;
const BATCHES_OF_AN_EXECUTOR: u64 = 10;

/// What resident memory may grow by in KiB: the allocator's own affairs.
const SLACK_KIB: f64 = 1_024.0;

#[test]
fn no_byte_is_left_of_tasks_that_completed_panicked_or_were_aborted() {
    let batches = pick(100, 10_000);
    // All that is made once has been made then, and the allocator keeps what it keeps.
    run((batches / 20).max(10 * BATCHES_OF_AN_EXECUTOR), &mut Resident::default());
    let (before, mut resident) = (Allocated::now(), Resident::default());
    run(batches, &mut resident);
    many_at_once(pick(10_000, 1_000_000));
    let lost = Allocated::now() - before;
    assert_eq!((lost.bytes, lost.pieces), (0, 0), "lost after {batches} batches of {BATCH} tasks");
    let growth = resident.growth_kib();
    println!("resident memory grew by {growth:?} KiB, {batches} batches of {BATCH} tasks");
    assert!(growth.is_none_or(|kib| kib <= SLACK_KIB), "{growth:?} KiB");
}

/// So many tasks wait, and go with their executor.
fn many_at_once(tasks: usize) {
    let ex = Executor::new();
    (0..tasks).for_each(|_| drop(ex.spawn(pending::<()>())));
    ex.block_on(yield_now());
}

fn run(batches: u64, resident: &mut Resident) {
    let mut setup = Setup::new();
    for batch in 0..batches {
        if batch % BATCHES_OF_AN_EXECUTOR == 0 {
            setup = Setup::new();
        }
        setup.cycle();
        resident.sample(batch as f64 / batches as f64);
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Ended {
    ByItself,
    AbortedReady,
    AbortedAsleep,
    WithTheExecutor,
}

struct Setup {
    ex: Executor,
    queues: Vec<Queue>,
}

impl Setup {
    fn new() -> Self {
        let ex = Executor::new();
        let create = |(n, policy): (usize, &Policy)| policy.create(ex.new_queue(&n.to_string())).unwrap();
        let queues = Policy::ALL.iter().enumerate().map(create).collect();
        Setup { ex, queues }
    }

    /// A batch of tasks, each ending in its way; but for those that go with the executor.
    fn cycle(&self) {
        let before = self.ex.stats();
        let mut tasks: Vec<_> = (0..BATCH).map(|n| self.spawn(n)).collect();
        let abort = |tasks: &[(Ended, JoinHandle<()>)], which: Ended| {
            tasks.iter().filter(|(ended, _)| *ended == which).for_each(|(_, task)| task.abort());
        };
        abort(&tasks, Ended::AbortedReady);
        self.ex.block_on(yield_now());
        abort(&tasks, Ended::AbortedAsleep);
        // The others stay until the executor is dropped.
        tasks.retain(|(ended, _)| *ended != Ended::WithTheExecutor);
        self.ex.block_on(async {
            while !tasks.iter().all(|(_, task)| task.is_finished()) {
                yield_now().await;
            }
        });
        let after = self.ex.stats();
        let ended = |stats: &ExecutorStats| stats.completed + stats.cancelled + stats.panicked;
        assert_eq!(ended(&after) - ended(&before), tasks.len() as u64, "{before:?}, then {after:?}");
    }

    fn spawn(&self, n: usize) -> (Ended, JoinHandle<()>) {
        let queue = &self.queues[n % self.queues.len()];
        match n % 7 {
            0 if n.is_multiple_of(2) => {
                (Ended::ByItself, self.ex.handle().spawn_on(&queue.name(), || async {}))
            }
            0 => (Ended::ByItself, queue.group(n as u64 % 5).spawn(async {})),
            1 => {
                let yields = async {
                    yield_now().await;
                    wake_by_value().await;
                };
                (Ended::ByItself, queue.spawn(yields))
            }
            2 => (Ended::ByItself, queue.spawn(async { panic_as_meant() })),
            3 => (Ended::AbortedReady, queue.spawn(pending())),
            4 => (Ended::AbortedAsleep, queue.spawn(pending())),
            5 => {
                let panics_when_aborted = async {
                    let _guard = PanicsWhenDropped;
                    pending().await
                };
                (Ended::AbortedAsleep, queue.spawn(panics_when_aborted))
            }
            _ => (Ended::WithTheExecutor, queue.spawn(pending())),
        }
    }
}

/// Waits for one wake, which gives up the waker that it is made by.
async fn wake_by_value() {
    let mut is_woken = false;
    poll_fn(|cx| {
        if is_woken {
            return Poll::Ready(());
        }
        is_woken = true;
        let waker = cx.waker().clone();
        waker.wake();
        Poll::Pending
    })
    .await
}
