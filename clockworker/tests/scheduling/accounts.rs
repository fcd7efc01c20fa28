//! Who pays: every nanosecond since an executor was made is in exactly one of four accounts. On a manual clock, exactly.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::thread;
use std::time::Duration;

use clockworker::{Executor, ExecutorStats, Handle, Queue, spawn_local, yield_now};

use crate::support::*;

fn sum(stats: &ExecutorStats) -> Duration {
    stats.busy + stats.main + stats.own + stats.host
}

#[test]
fn each_account_has_what_is_its_own() {
    let ex = hosted();
    let other = ex.new_queue("other").create().unwrap();
    work(us(100)); // nobody runs it yet
    ex.block_on(async {
        work(us(3));
        ex.spawn(async { work(us(5)) }).await.unwrap();
        work(us(4));
        other.spawn(async { work(us(7)) }).await.unwrap();
    });
    work(us(50));
    let stats = ex.stats();
    assert_eq!((stats.main, stats.busy, stats.own, stats.host), (us(7), us(12), us(0), us(150)));
    assert_eq!((ex.default_queue().stats().busy, other.stats().busy), (us(5), us(7)));
}

/// A queue does short polls, after each of which the clock is not read, and sends something after some of them.
#[test]
fn a_queue_pays_for_its_polls_before_what_it_sends_is_admitted() {
    let sends: [fn(&Handle); 3] = [
        // Admission drops these futures, and answers these questions.
        |handle| handle.spawn(|| async {}).abort(),
        |handle| (0..200).for_each(|_| drop(handle.spawn(|| async {}))),
        |handle| assert!(poll_once(&mut pin!(handle.stats())).is_pending()),
    ];
    for send in sends {
        let ex = hosted();
        let queue = ex.new_queue("sends").create().unwrap();
        let handle = ex.handle();
        let task = queue.spawn(async move {
            for poll in 1..=10_000 {
                work(Duration::from_nanos(100));
                if poll % 10 == 0 {
                    send(&handle);
                }
                yield_now().await;
            }
        });
        ex.block_on(task).unwrap();
        assert_eq!((queue.stats().busy, ex.stats().own), (us(1_000), us(0)));
    }
}

/// Where the future given to `run_until` is polled again and again, the clock is not read after each poll.
#[test]
fn all_the_polls_of_a_main_future_that_yields_are_on_its_account() {
    let ex = hosted();
    let signals: Vec<_> = (0..200).map(|_| Signal::new()).collect();
    for signal in signals.clone() {
        ex.spawn(async move { signal.wait().await });
    }
    let mut run = pin!(ex.run_until(async {
        for poll in 1..=1_000 {
            work(Duration::from_nanos(100));
            match poll {
                400 => drop(ex.spawn(async {})),
                // More than are handed over at a time.
                700 => signals.iter().for_each(Signal::set),
                _ => {}
            }
            yield_now().await;
        }
    }));
    while poll_once(&mut run).is_pending() {
        work(us(50));
    }
    let stats = ex.stats();
    assert_eq!((stats.main, stats.own), (us(100), us(0)), "{stats:?}");
}

/// Some polls that take no time, and then such that take a millisecond: each of those has a turn of its own, after the first.
#[test]
fn a_main_future_of_long_polls_leaves_the_host_a_turn_after_each() {
    let ex = hosted();
    let mut polls = 0_u32;
    let mut run = pin!(ex.run_until(poll_fn(|cx| {
        polls += 1;
        if polls > 1_000 {
            work(us(1_000));
        }
        cx.waker().wake_by_ref();
        if polls == 1_100 { Poll::Ready(()) } else { Poll::Pending }
    })));
    let mut turns = 0;
    while poll_once(&mut run).is_pending() {
        turns += 1;
    }
    // At most 32 in the turn in which they become long.
    assert!((1_100 - 1_000 - 32..=100).contains(&turns), "{turns} turns");
}

#[test]
fn an_account_that_is_open_shows_what_it_owes() {
    let ex = hosted();
    ex.block_on(async {
        work(us(3));
        assert_eq!((ex.stats().main, sum(&ex.stats())), (us(3), us(3)));
        let inner = ex.default_queue().clone();
        let busy = ex.spawn(async move {
            work(us(5));
            inner.stats().busy
        });
        assert_eq!(busy.await.unwrap(), us(5));
    });
}

fn logged_queue(ex: &Executor) -> (Queue, Log) {
    let log = Log::default();
    let spy: Spy = Spy::fifo().logging(&log);
    (ex.new_queue("tenants").scheduler(spy).create().unwrap(), log)
}

#[test]
fn a_slow_drop_is_billed_to_its_own_queue_and_group() {
    let ex = hosted();
    let (queue, log) = logged_queue(&ex);
    let [slow, quick] = [1, 2].map(|tenant| queue.group(tenant));
    let task = slow.spawn(hold(OnDrop::new(|| work(us(10_000)))));
    turn(&ex);
    assert_eq!(log.take_only(&["served"]), "served 2 of 0 0");
    task.abort();
    quick.spawn(async {});
    ex.spawn(async {});
    turn(&ex);
    turn(&ex);
    assert_eq!((queue.stats().busy, ex.default_queue().stats().busy), (us(10_000), us(0)));
    // The neighbour's poll took no time.
    assert_eq!(log.take_only(&["served"]), "served 2 of 0 10000000, served 3 of 1 0");
}

/// The host's budget of 200 µs ends each of these slices before their grant does.
#[test]
fn a_poll_longer_than_the_grant_is_an_overrun_whatever_ends_the_slice() {
    let ex = hosted();
    let long = ex.new_queue("long").create().unwrap();
    ex.spawn(never_rests());
    long.spawn(async {
        for _ in 0..5 {
            work(us(100_000));
            yield_now().await;
        }
    });
    let mut turns = 0;
    while long.stats().live > 0 && turns < 100_000 {
        turn(&ex);
        work(us(1));
        turns += 1;
        // The other queue's polls take no time, so that without this it is never ahead.
        if turns % 2 == 0 {
            ex.spawn(async { work(us(1_000)) });
        }
    }
    let stats = long.stats();
    assert_eq!((stats.completed, stats.overruns), (1, 5));
    assert_eq!(stats.overrun_time, 5 * us(100_000 - 500));
}

/// The last task polled was alone in its group, which is closed with it. What is dropped at admission spawns.
#[test]
fn what_a_refused_task_spawns_in_its_drop_is_in_no_closed_group() {
    let ex = hosted();
    let (queue, log) = logged_queue(&ex);
    let closing = ex.new_queue("closing").create().unwrap();
    let handle = ex.handle();
    queue.group(1).spawn(async move {
        let send = move || {
            let on_drop = OnDrop::new(|| drop(spawn_local(async { note("spawned") })));
            drop(handle.spawn_on("closing", move || async move { drop(on_drop) }));
        };
        thread::spawn(send).join().unwrap();
        closing.close();
    });
    (0..3).for_each(|_| _ = turn(&ex));
    assert_eq!(trace(), "spawned");
    // It went to the default queue, in no group; of the group's tasks there was one poll.
    assert_eq!(log.take_only(&["served"]), "served 1 of 0 0");
    assert_eq!(ex.default_queue().stats().completed, 1);
}
