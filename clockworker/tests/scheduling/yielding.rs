//! `yield_now`, `should_yield` and `yield_if_due`, on a manual clock.

use std::cell::Cell;
use std::future::{pending, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::thread;
use std::time::Duration;

use clockworker::schedulers::{RunnableFifo, Scheduler, WokenFirst};
use clockworker::{Executor, Queue, should_yield, yield_if_due, yield_now};

use crate::support::*;

/// Runs a task in a queue beside a runnable one, and gives what it returns.
fn contended<T: 'static>(request: u64, task: impl Future<Output = T> + 'static) -> T {
    let ex = scene(&format!("first request={request}\n second request={request}"));
    let task = queue(&ex, "first").spawn(task);
    queue(&ex, "second").spawn(polls("", 1_000, us(10)));
    run(&ex, task).unwrap()
}

/// A task that waits for a signal.
fn waiting(queue: &Queue) -> Signal {
    let signal = Signal::new();
    let waited = signal.clone();
    queue.spawn(async move { waited.wait().await });
    signal
}

/// Whether a task is to yield before and after something is done in its poll.
fn due_before_and_after(ex: &Executor, does: impl FnOnce() + 'static) -> (bool, bool) {
    let task = ex.spawn(async move {
        let before = should_yield();
        does();
        (before, should_yield())
    });
    run(ex, task).unwrap()
}

#[test]
fn yield_now_lets_the_others_run_first_by_one_poll_more() {
    let ex = scene("default a: 1*2\n default b: 1*2\n default c: 1*2");
    assert_eq!(drain(&ex), "a1 b1 c1 a2 b2 c2");
    let ex = world();
    run(&ex, ex.spawn(yields(10))).unwrap();
    assert_eq!(ex.stats().polls, 11);
}

#[test]
fn yields_work_under_any_executor() {
    futures::executor::block_on(async {
        yield_now().await;
        yield_if_due().await;
    });
}

#[test]
fn nothing_is_due_outside_an_executor() {
    assert!(!should_yield());
    assert!(poll_once(&mut pin!(yield_if_due())).is_ready());
}

#[test]
fn the_future_given_to_run_until_is_to_yield_when_the_host_is_due() {
    let ex = builder().host_budget(us(100)).build().unwrap();
    ex.spawn(pending::<()>());
    let due = run(&ex, async {
        [us(99), us(1)].map(|time| {
            work(time);
            should_yield()
        })
    });
    assert_eq!(due, [false, true], "it is in no slice");
    assert!(!should_yield(), "it is over");
}

/// A long computation there holds up neither the tasks nor the host for longer than one of a task.
#[test]
fn tasks_run_beside_a_future_that_yields_if_due() {
    let ex = builder().host_budget(us(100)).build().unwrap();
    let task = ex.spawn(async {});
    let (turns, chunks) = run(&ex, async {
        let mut chunks = 0;
        while !task.is_finished() {
            work(us(10));
            yield_if_due().await;
            chunks += 1;
        }
        (ex.stats().host_polls, chunks)
    });
    assert_eq!((turns, chunks), (2, 10));
}

#[test]
fn due_when_the_slice_is_spent_and_not_at_the_beginning_of_the_next() {
    let seen = contended(500, async {
        let first = [(); 7].map(|()| {
            let due = should_yield();
            work(us(100));
            due
        });
        yield_now().await;
        let begins = should_yield();
        work(us(499));
        let late = should_yield();
        work(us(1));
        (first, begins, late, should_yield())
    });
    assert_eq!(seen, ([false, false, false, false, false, true, true], false, false, true));
}

/// With nobody to give way to, a slice has no end.
#[test]
fn not_due_while_no_other_queue_is_runnable() {
    let ex = scene("alone request=100");
    let task = queue(&ex, "alone").spawn(async {
        work(us(10_000));
        should_yield()
    });
    assert!(!run(&ex, task).unwrap());
}

/// But as soon as another joins, what is left of the turn counts, and it was spent long ago.
#[test]
fn due_when_another_queue_joins_after_the_turn_is_spent() {
    let ex = scene("first request=100\n second request=100000");
    let second = queue(&ex, "second");
    let task = queue(&ex, "first").spawn(async move {
        work(us(10_050));
        let before = should_yield();
        second.spawn(pending::<()>());
        let joined = should_yield();
        work(us(100));
        (before, joined, should_yield())
    });
    // It joins at the first one's virtual runtime, due far later, so the first one has a new turn of 100 µs.
    assert_eq!(run(&ex, task).unwrap(), (false, false, true));
}

#[test]
fn due_when_the_host_is() {
    let ex = builder().host_budget(us(200)).build().unwrap();
    let task = ex.spawn(async {
        let seen = [(); 3].map(|()| {
            let due = should_yield();
            work(us(100));
            due
        });
        let last = should_yield();
        yield_now().await;
        (seen, last, should_yield())
    });
    assert_eq!(run(&ex, task).unwrap(), ([false, false, true], true, false));
    assert_eq!(ex.stats().host_yields, 1);
}

/// What another thread wants may be urgent, or an abort; the executor has to look.
#[test]
fn due_when_something_arrived_from_another_thread() {
    let ex = world();
    let signal = waiting(ex.default_queue());
    let wake = move || {
        let waker = signal.take_waker().expect("a task waits");
        thread::spawn(move || waker.wake()).join().unwrap();
    };
    assert_eq!(due_before_and_after(&ex, wake), (false, true));
    let victim = ex.spawn(pending::<()>()).abort_handle();
    let abort = move || thread::spawn(move || victim.abort()).join().unwrap();
    assert_eq!(due_before_and_after(&ex, abort), (false, true));
    let handle = ex.handle();
    let task = ex.spawn(async move {
        let before = should_yield();
        let spawned = thread::spawn(move || handle.spawn(|| async {})).join().unwrap();
        let after = should_yield();
        spawned.await.unwrap();
        (before, after, should_yield())
    });
    assert_eq!(run(&ex, task).unwrap(), (false, true, false));
}

/// The first of a queue that is to be served first counts, however many of its own came before or after; and what was taken in counts
/// no more.
#[test]
fn due_for_arrivals_of_queues_that_come_first_and_for_those_only() {
    // Of its own queue (a), of two of short requests (b, c), of one as its own (d); a yield takes in what has arrived (|).
    let cases = [
        ("a", "-"),
        ("aaaa", "----"),
        ("b", "+"),
        ("ab", "-+"),
        ("aabaa", "--+++"),
        ("ba", "++"),
        ("bb", "++"),
        ("bcb", "+++"),
        ("aa|aa", "--|--"),
        ("ab|aa", "-+|--"),
        ("b|a", "+|-"),
        ("a|b", "-|+"),
        ("bc|a|c", "++|-|+"),
        ("d", "-"),
        ("dadb", "---+"),
        ("bd|da", "++|--"),
    ];
    for (wakes, expected) in cases {
        let ex = scene("b request=50\n c request=50\n d");
        let signals = ["default", "b", "c", "d"].map(|name| {
            let waits = wakes.chars().map(|_| waiting(&queue(&ex, name)));
            waits.collect::<Vec<_>>().into_iter()
        });
        drain(&ex);
        let task = ex.spawn(async move {
            let (mut signals, mut seen) = (signals, String::new());
            for wake in wakes.chars() {
                if wake == '|' {
                    // The tasks of other queues have their turns, too.
                    yields(wakes.len().try_into().unwrap()).await;
                    seen.push('|');
                } else {
                    signals["abcd".find(wake).unwrap()].next().unwrap().set();
                    seen.push(if should_yield() { '+' } else { '-' });
                }
            }
            seen
        });
        assert_eq!(run(&ex, task).unwrap(), expected, "{wakes}");
    }
}

/// A spawn joins at once, so it is known whether the other queue is to be served first.
#[test]
fn due_when_a_spawn_makes_a_queue_due_earlier() {
    for (request, due) in [(50, true), (5_000, false)] {
        let ex = scene(&format!("other request={request}"));
        let other = queue(&ex, "other");
        let spawn = move || drop(other.spawn(async {}));
        assert_eq!(due_before_and_after(&ex, spawn), (false, due), "request of {request} µs");
    }
}

#[test]
fn due_when_the_future_given_to_run_until_was_woken() {
    let ex = world();
    let (go, seen) = (Signal::new(), Rc::new(Cell::new(None)));
    let (wakes, sees) = (go.clone(), Rc::clone(&seen));
    ex.spawn(async move {
        let before = should_yield();
        wakes.set();
        sees.set(Some((before, should_yield())));
    });
    run(&ex, go.wait());
    assert_eq!(seen.get(), Some((false, true)));
}

#[test]
fn yield_if_due_goes_on_within_a_slice_and_yields_at_its_end() {
    let ex = builder().host_budget(NEVER).build().unwrap();
    let long = ex.new_queue("long").request(us(300)).create().unwrap();
    let other = ex.new_queue("other").request(us(300)).create().unwrap();
    long.spawn(async {
        for chunk in 1..=7 {
            note(format!("c{chunk}"));
            work(us(100));
            yield_if_due().await;
        }
    });
    other.spawn(polls("o", 3, us(300)));
    assert_eq!(drain(&ex), "c1 c2 c3 o1 c4 c5 c6 o2 c7 o3");
    // Three chunks to a poll, and the end.
    assert_eq!((long.stats().polls, long.stats().completed), (3, 1));
}

#[test]
fn yield_if_due_yields_once() {
    let polls = contended(100, async {
        let polls = Cell::new(0);
        work(us(150));
        let mut due = pin!(yield_if_due());
        poll_fn(|cx| {
            polls.set(polls.get() + 1);
            // It is due again by the second poll, which must end all the same.
            work(us(150));
            due.as_mut().poll(cx)
        })
        .await;
        polls.get()
    });
    assert_eq!(polls, 2);
}

/// The one that comes first may be behind more than are looked at in one go.
#[test]
fn due_for_one_of_very_many_queues() {
    let ex = world();
    let many: Vec<_> = (0..100).map(|number| ex.new_queue(&format!("{number}")).create().unwrap()).collect();
    let urgent = ex.new_queue("urgent").share(1_000).request(us(1)).create().unwrap();
    let signals: Vec<_> = many.iter().chain([&urgent]).map(waiting).collect();
    drain(&ex);
    let task = ex.spawn(async move {
        work(us(10));
        let before = should_yield();
        signals.iter().for_each(Signal::set);
        [before, should_yield(), should_yield()]
    });
    assert_eq!(run(&ex, task).unwrap(), [false, true, true]);
}

/// Two tasks wake each other without end, and so many others compute in pieces: when those are done.
fn done_beside_a_pair<S: Scheduler + 'static>(
    scheduler: S,
    [tasks, pieces]: [u64; 2],
    hop: Duration,
) -> Duration {
    let ex = builder().scheduler(scheduler).build().unwrap();
    let (ping, pong) = (Signal::new(), Signal::new());
    for (own, other) in [(ping.clone(), pong.clone()), (pong, ping.clone())] {
        ex.spawn(async move {
            loop {
                own.wait().await;
                work(hop);
                other.set();
            }
        });
    }
    ping.set();
    let computes = |_| {
        ex.spawn(async move {
            for _ in 0..pieces {
                work(us(5));
                yield_now().await;
            }
        })
    };
    let all: Vec<_> = (0..tasks).map(computes).collect();
    run(&ex, async {
        for task in all {
            task.await.unwrap();
        }
    });
    now()
}

/// LocalSet polls in the order of becoming ready.
#[test]
fn tasks_that_compute_in_pieces_take_five_thirds_of_the_time_beside_a_busy_pair() {
    for (tasks, pieces) in [(100, 50), (1, 500), (16, 300)] {
        for hop in [Duration::from_nanos(50), us(1), us(5), us(40)] {
            let in_order = done_beside_a_pair(RunnableFifo::new(), [tasks, pieces], hop);
            let found = done_beside_a_pair(WokenFirst::new(), [tasks, pieces], hop);
            // Up to the millisecond that the pair may be ahead.
            assert!(
                found <= in_order * 5 / 3 + us(1_000),
                "{tasks} × {pieces}, {hop:?}: {found:?} for {in_order:?}"
            );
        }
    }
}
