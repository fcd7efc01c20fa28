//! Promise 10: nothing is left of a task that has ended, however it ended.
//!
//! One test, as it counts what the whole process allocates.

#![allow(clippy::print_stdout, reason = "the figures of RELIABILITY.md, shown by `--nocapture`")]

use std::future::{pending, poll_fn};
use std::task::Poll;

use clockworker::{Executor, JoinHandle, Queue, yield_now};
use clockworker_testing::effort::pick;
use clockworker_testing::memory::{Allocated, COUNTING, Counting, resident};
use clockworker_testing::panics::{PanicsWhenDropped, panic_as_meant};
use clockworker_testing::policy::Policy;

#[global_allocator]
static ALLOCATOR: Counting = COUNTING;

/// Tasks that are there at the same time.
const BATCH: usize = 1_000;
const BATCHES_OF_AN_EXECUTOR: u64 = 10;

/// What resident memory may grow by in bytes: the allocator's own affairs.
const SLACK: u64 = 1 << 20;

#[test]
fn no_byte_is_left_of_tasks_that_completed_panicked_or_were_aborted() {
    let batches = pick(100, 10_000);
    // All that is made once has been made then, and the allocator keeps what it keeps.
    run((batches / 20).max(10 * BATCHES_OF_AN_EXECUTOR));
    let (before, resident_before) = (Allocated::now(), resident());
    run(batches);
    let growth = resident().zip(resident_before).map(|(now, before)| now.saturating_sub(before));
    many_at_once(pick(10_000, 1_000_000));
    let lost = Allocated::now() - before;
    assert_eq!((lost.bytes, lost.pieces), (0, 0), "lost after {batches} batches of {BATCH} tasks");
    println!("resident memory grew by {growth:?} bytes, {batches} batches of {BATCH} tasks");
    assert!(growth.is_none_or(|bytes| bytes <= SLACK), "{growth:?} bytes");
}

/// So many tasks wait, and go with their executor.
fn many_at_once(tasks: usize) {
    let ex = Executor::new();
    (0..tasks).for_each(|_| drop(ex.spawn(pending::<()>())));
    ex.block_on(yield_now());
}

fn run(batches: u64) {
    for _ in 0..batches / BATCHES_OF_AN_EXECUTOR {
        let ex = Executor::new();
        let create = |(n, policy): (usize, &Policy)| policy.create(ex.new_queue(&n.to_string())).unwrap();
        let queues: Vec<_> = Policy::ALL.iter().enumerate().map(create).collect();
        (0..BATCHES_OF_AN_EXECUTOR).for_each(|_| batch(&ex, &queues));
    }
}

/// Tasks of seven kinds: three end by themselves, three are aborted, and the last go with their executor.
fn batch(ex: &Executor, queues: &[Queue]) {
    let mut tasks: Vec<_> = (0..BATCH).map(|n| spawn(ex, &queues[n % queues.len()], n)).collect();
    let abort = |kind| tasks.iter().skip(kind).step_by(7).for_each(JoinHandle::abort);
    abort(3);
    ex.block_on(yield_now());
    abort(4);
    abort(5);
    let mut at = 0..BATCH;
    tasks.retain(|_| at.next().is_some_and(|n| n % 7 < 6));
    ex.block_on(async {
        while !tasks.iter().all(JoinHandle::is_finished) {
            yield_now().await;
        }
    });
}

fn spawn(ex: &Executor, queue: &Queue, n: usize) -> JoinHandle<()> {
    match n % 7 {
        0 if n.is_multiple_of(2) => ex.handle().spawn_on(&queue.name(), || async {}),
        0 => queue.group(n as u64 % 5).spawn(async {}),
        1 => queue.spawn(async {
            yield_now().await;
            wake_by_value().await;
        }),
        2 => queue.spawn(async { panic_as_meant() }),
        5 => queue.spawn(async {
            let _guard = PanicsWhenDropped;
            pending().await
        }),
        _ => queue.spawn(pending()),
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
