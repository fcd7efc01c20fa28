//! Large numbers: a million tasks, long chains, and many that are dropped at once.

use std::future::{Future, pending};
use std::panic;
use std::pin::Pin;
use std::sync::Barrier;
use std::task::{Context, Poll};
use std::thread;

use clockworker::schedulers::{Las, Qlas, Serpt};
use clockworker::{Executor, JoinHandle};

use crate::support::{Count, OnDrop, assert_finished, hold, output, parked, poll_once, settle, untimed};

const MILLION: u64 = 1_000_000;
/// Threads that do something at the same time.
const THREADS: usize = 8;

/// Runs a test where recursion shows: 100,000 levels fit into no stack of 128 KiB, whatever they hold.
fn on_a_small_stack(test: fn()) {
    let thread = thread::Builder::new().stack_size(128 * 1024).spawn(test).unwrap();
    if let Err(payload) = thread.join() {
        panic::resume_unwind(payload);
    }
}

#[test]
fn a_million_tasks_are_spawned_and_joined() {
    let ex = untimed();
    let sum = ex.block_on(async {
        let tasks: Vec<JoinHandle<u64>> =
            (0..MILLION).map(|i| clockworker::spawn_local(async move { i })).collect();
        let mut sum = 0;
        for task in tasks {
            sum += task.await.unwrap();
        }
        sum
    });
    assert_eq!(sum, MILLION * (MILLION - 1) / 2);
    assert_finished(&ex.stats(), MILLION, 0, 0);
    assert_eq!(ex.stats().polls, MILLION);
}

#[test]
fn a_million_tasks_are_spawned_and_joined_one_at_a_time() {
    let ex = untimed();
    ex.block_on(async {
        for i in 0..MILLION {
            assert_eq!(clockworker::spawn_local(async move { i }).await.unwrap(), i);
        }
    });
    assert_finished(&ex.stats(), MILLION, 0, 0);
}

#[test]
fn a_million_parked_tasks_are_aborted_at_once() {
    on_a_small_stack(|| abort_a_million(1));
}

#[test]
fn a_million_parked_tasks_are_aborted_by_eight_threads_at_once() {
    on_a_small_stack(|| abort_a_million(THREADS));
}

fn abort_a_million(threads: usize) {
    let ex = untimed();
    let tasks: Vec<_> = (0..MILLION).map(|_| ex.spawn(pending::<()>())).collect();
    settle(&ex);
    if threads == 1 {
        tasks.iter().for_each(JoinHandle::abort);
    } else {
        let start = Barrier::new(threads + 1);
        thread::scope(|scope| {
            for part in tasks.chunks(MILLION as usize / threads) {
                let start = &start;
                scope.spawn(move || {
                    start.wait();
                    part.iter().for_each(JoinHandle::abort);
                });
            }
            start.wait();
            // While they are at it.
            settle(&ex);
        });
    }
    settle(&ex);
    assert_finished(&ex.stats(), 0, MILLION, 0);
    assert!(tasks.iter().all(JoinHandle::is_finished));
}

#[test]
fn a_million_ready_tasks_are_aborted_at_once() {
    on_a_small_stack(|| {
        let ex = untimed();
        let las = ex.new_queue("las").scheduler(Las::new()).create().unwrap();
        let qlas = ex.new_queue("qlas").scheduler(Qlas::new()).create().unwrap();
        let serpt = ex.new_queue("serpt").scheduler(Serpt::new()).create().unwrap();
        let queues = [ex.default_queue(), &las, &qlas, &serpt];
        let tasks: Vec<_> =
            (0..MILLION).map(|i| queues[i as usize % queues.len()].spawn(pending::<()>())).collect();
        tasks.iter().for_each(JoinHandle::abort);
        drop(tasks);
        settle(&ex);
        assert_finished(&ex.stats(), 0, MILLION, 0);
        assert_eq!((ex.stats().polls, ex.stats().ready), (0, 0));
    });
}

#[test]
fn a_hundred_thousand_parked_tasks_are_dropped_with_the_executor() {
    on_a_small_stack(|| {
        const TASKS: usize = 100_000;
        let drops = Count::default();
        let ex = untimed();
        (0..TASKS).for_each(|_| drop(ex.spawn(hold(drops.guard()))));
        settle(&ex);
        drop(ex);
        assert_eq!(drops.get(), TASKS);
    });
}

/// Awaits a task, boxed so that a chain of them has one type.
struct Awaits(Option<JoinHandle<u64>>);

impl Future for Awaits {
    type Output = u64;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<u64> {
        match &mut self.0 {
            None => Poll::Pending,
            Some(task) => Pin::new(task).poll(cx).map(|result| result.map_or(0, |n| n + 1)),
        }
    }
}

/// Each task awaits the one before; the first never ends.
fn chain(ex: &Executor, length: usize) -> (JoinHandle<u64>, clockworker::AbortHandle) {
    let first = ex.spawn(Awaits(None));
    let abort = first.abort_handle();
    let last = (1..length).fold(first, |before, _| ex.spawn(Awaits(Some(before))));
    settle(ex);
    (last, abort)
}

const LINKS: usize = 100_000;

#[test]
fn a_long_chain_of_awaiting_tasks_ends_without_deep_recursion() {
    on_a_small_stack(|| {
        let ex = untimed();
        let (last, abort) = chain(&ex, LINKS);
        abort.abort();
        settle(&ex);
        assert_eq!(output(last).unwrap(), LINKS as u64 - 2);
        assert_finished(&ex.stats(), LINKS as u64 - 1, 1, 0);
    });
}

#[test]
fn a_long_chain_of_awaiting_tasks_is_dropped_without_deep_recursion() {
    on_a_small_stack(|| {
        let ex = untimed();
        let (mut last, _abort) = chain(&ex, LINKS);
        // The last holds the handle of the one before it, and so on to the first: dropping it detaches, no more.
        last.abort();
        settle(&ex);
        assert!(poll_once(&mut last).is_ready());
        assert_finished(&ex.stats(), 0, 1, 0);
        assert_eq!(ex.stats().live, LINKS - 1);
        drop(ex);
    });
}

#[test]
fn tasks_that_abort_the_next_in_their_drop_go_without_deep_recursion() {
    on_a_small_stack(|| {
        let ex = untimed();
        let mut last: Option<JoinHandle<()>> = None;
        for _ in 0..LINKS {
            let next = last.take();
            let guard = OnDrop::new(move || next.iter().for_each(JoinHandle::abort));
            last = Some(ex.spawn(hold(guard)));
        }
        settle(&ex);
        last.unwrap().abort();
        settle(&ex);
        assert_finished(&ex.stats(), 0, LINKS as u64, 0);
    });
}

#[test]
fn a_million_wakes_while_the_executor_sleeps_are_one_poll() {
    // None of them blocks, although nobody drains.
    let ex = untimed();
    let (probe, _) = parked(&ex);
    let (waker, start) = (probe.waker(), Barrier::new(THREADS));
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                start.wait();
                (0..MILLION as usize / THREADS).for_each(|_| waker.wake_by_ref());
            });
        }
    });
    settle(&ex);
    assert_eq!(probe.polls.get(), 2);
}

#[test]
fn ten_thousand_queues_come_and_go() {
    let ex = untimed();
    for i in 0..10_000 {
        let queue = ex.new_queue("temporary").create().unwrap();
        let task = queue.spawn(async move { i });
        queue.close();
        settle(&ex);
        assert_eq!(output(task).unwrap(), i);
    }
    let stats = ex.stats();
    assert_eq!(stats.queues.len(), 1);
    assert_finished(&stats, 10_000, 0, 0);
}

/// Also where each of them came last, or anywhere.
#[test]
fn a_million_tasks_that_came_are_moved_in_any_order() {
    let ex = untimed();
    let [from, to] = ["from", "to"].map(|name| ex.new_queue(name).create().unwrap());
    let mut tasks: Vec<_> = (0..MILLION).map(|_| from.spawn(async {})).collect();
    tasks.reverse();
    let (last, any) = tasks.split_at_mut(MILLION as usize / 2);
    fastrand::Rng::with_seed(7).shuffle(any);
    last.iter().chain(any.iter()).for_each(|task| task.move_to(&to).unwrap());
    settle(&ex);
    assert_eq!((from.stats().moved, to.stats().completed), (MILLION, MILLION));
}
