//! `yield_now`, `should_yield` and `yield_if_due`, on a manual clock.

use std::cell::Cell;
use std::rc::Rc;
use std::task::Poll;
use std::thread;

use clockworker::{should_yield, yield_if_due, yield_now};

use crate::support::{NEVER, Signal, Trace, VirtualTime, poller, us, yields};

/// Runs a task in a queue beside a runnable one, and gives what it returns.
fn contended<T: 'static>(request_us: u64, task: impl AsyncFnOnce(&VirtualTime) -> T + 'static) -> T {
    let sim = VirtualTime::new();
    let ex = sim.executor();
    let first = ex.new_queue("first").request(us(request_us)).create().unwrap();
    let second = ex.new_queue("second").request(us(request_us)).create().unwrap();
    let handle = first.spawn({
        let sim = sim.clone();
        async move { task(&sim).await }
    });
    second.spawn(poller(&sim, &Trace::new(), "second", 1_000, us(10)));
    sim.run(&ex, handle).unwrap()
}

#[test]
fn yield_now_lets_the_others_run_first() {
    let (sim, trace) = (VirtualTime::new(), Trace::new());
    let ex = sim.executor();
    for name in ["a", "b", "c"] {
        ex.spawn(poller(&sim, &trace, name, 2, us(1)));
    }
    sim.drain(&ex);
    assert_eq!(trace.take(), "a1 b1 c1 a2 b2 c2");
}

#[test]
fn yield_now_takes_one_poll_more_and_wakes_itself() {
    let sim = VirtualTime::new();
    let ex = sim.executor();
    sim.run(
        &ex,
        ex.spawn(async {
            for _ in 0..10 {
                yield_now().await
            }
        }),
    )
    .unwrap();
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
    let mut yielded = Box::pin(yield_if_due());
    let waker = futures::task::noop_waker();
    let polled = std::future::Future::poll(yielded.as_mut(), &mut std::task::Context::from_waker(&waker));
    assert_eq!(polled, Poll::Ready(()));
}

#[test]
fn nothing_is_due_in_the_future_given_to_run_until() {
    let sim = VirtualTime::new();
    let ex = sim.builder().host_budget(us(100)).build().unwrap();
    ex.spawn(std::future::pending::<()>());
    let due = sim.run(&ex, async {
        sim.work(us(1_000));
        should_yield()
    });
    assert!(!due, "it is in no slice");
}

#[test]
fn due_when_the_slice_is_spent() {
    let seen = contended(500, async |sim: &VirtualTime| {
        (0..=6)
            .map(|_| {
                let due = should_yield();
                sim.work(us(100));
                due
            })
            .collect::<Vec<_>>()
    });
    assert_eq!(seen, [false, false, false, false, false, true, true]);
}

#[test]
fn not_due_at_the_beginning_of_the_next_slice() {
    let seen = contended(500, async |sim: &VirtualTime| {
        sim.work(us(500));
        let before = should_yield();
        yield_now().await;
        let after = should_yield();
        sim.work(us(499));
        let late = should_yield();
        sim.work(us(1));
        (before, after, late, should_yield())
    });
    assert_eq!(seen, (true, false, false, true));
}

/// With nobody to give way to, a slice has no end.
#[test]
fn not_due_while_no_other_queue_is_runnable() {
    let sim = VirtualTime::new();
    let ex = sim.executor();
    let alone = ex.new_queue("alone").request(us(100)).create().unwrap();
    let task = alone.spawn({
        let sim = sim.clone();
        async move {
            sim.work(us(10_000));
            should_yield()
        }
    });
    assert!(!sim.run(&ex, task).unwrap());
}

/// But as soon as another joins, what is left of the turn counts, and it was spent long ago.
#[test]
fn due_when_another_queue_joins_after_the_turn_is_spent() {
    let sim = VirtualTime::new();
    let ex = sim.executor();
    let first = ex.new_queue("first").request(us(100)).create().unwrap();
    let second = ex.new_queue("second").request(us(100_000)).create().unwrap();
    let task = first.spawn({
        let sim = sim.clone();
        async move {
            sim.work(us(10_050));
            let before = should_yield();
            second.spawn(std::future::pending::<()>());
            let joined = should_yield();
            sim.work(us(100));
            (before, joined, should_yield())
        }
    });
    // It joins at the first one's virtual runtime, due far later, so the first one has a new turn of 100 µs.
    assert_eq!(sim.run(&ex, task).unwrap(), (false, false, true));
}

#[test]
fn due_when_the_host_is() {
    let sim = VirtualTime::new();
    let ex = sim.builder().host_budget(us(200)).build().unwrap();
    let task = ex.spawn({
        let sim = sim.clone();
        async move {
            let mut seen = Vec::new();
            for _ in 0..3 {
                seen.push(should_yield());
                sim.work(us(100));
            }
            seen.push(should_yield());
            yield_now().await;
            seen.push(should_yield());
            seen
        }
    });
    assert_eq!(sim.run(&ex, task).unwrap(), [false, false, true, true, false]);
    assert_eq!(ex.stats().host_yields, 1);
}

/// What another thread wants may be urgent, or an abort; the executor has to look.
#[test]
fn due_when_a_remote_wake_arrived() {
    let sim = VirtualTime::new();
    let ex = sim.executor();
    let signal = Signal::new();
    ex.spawn({
        let signal = signal.clone();
        async move { signal.wait().await }
    });
    let task = ex.spawn(async move {
        let before = should_yield();
        let waker = signal.take_waker().expect("somebody waits");
        thread::spawn(move || waker.wake()).join().unwrap();
        (before, should_yield())
    });
    assert_eq!(sim.run(&ex, task).unwrap(), (false, true));
}

#[test]
fn due_when_a_remote_spawn_arrived() {
    let sim = VirtualTime::new();
    let ex = sim.executor();
    let handle = ex.handle();
    let task = ex.spawn(async move {
        let before = should_yield();
        let spawned = thread::spawn(move || handle.spawn(|| async {})).join().unwrap();
        let after = should_yield();
        spawned.await.unwrap();
        (before, after, should_yield())
    });
    assert_eq!(sim.run(&ex, task).unwrap(), (false, true, false));
}

#[test]
fn due_when_a_remote_abort_arrived() {
    let sim = VirtualTime::new();
    let ex = sim.executor();
    let victim = ex.spawn(std::future::pending::<()>()).abort_handle();
    let task = ex.spawn(async move {
        let before = should_yield();
        thread::spawn(move || victim.abort()).join().unwrap();
        (before, should_yield())
    });
    assert_eq!(sim.run(&ex, task).unwrap(), (false, true));
}

/// Whether that queue is to be served first is only decided when it joins; until then it may be.
#[test]
fn due_when_a_task_of_another_queue_was_woken() {
    let sim = VirtualTime::new();
    let ex = sim.executor();
    let other = ex.new_queue("other").create().unwrap();
    let (same, elsewhere) = (Signal::new(), Signal::new());
    for (queue, signal) in [(ex.default_queue(), same.clone()), (&other, elsewhere.clone())] {
        queue.spawn(async move { signal.wait().await });
    }
    sim.drain(&ex);
    let task = ex.spawn(async move {
        let before = should_yield();
        same.set();
        let after_same = should_yield();
        elsewhere.set();
        (before, after_same, should_yield())
    });
    assert_eq!(sim.run(&ex, task).unwrap(), (false, false, true));
}

/// The first of another queue counts, however many of its own came before or after; and what was taken in counts no more.
#[test]
fn due_for_arrivals_of_other_queues_and_for_those_only() {
    // Of its own queue (a), of two others (b, c); a yield takes in what has arrived (|).
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
    ];
    for (wakes, expected) in cases {
        let sim = VirtualTime::new();
        let ex = sim.executor();
        let others = ["b", "c"].map(|name| ex.new_queue(name).create().unwrap());
        let queues = [ex.default_queue(), &others[0], &others[1]];
        let signals = queues.map(|queue| -> Vec<Signal> {
            let signals: Vec<Signal> = (0..wakes.len()).map(|_| Signal::new()).collect();
            for signal in &signals {
                let signal = signal.clone();
                queue.spawn(async move { signal.wait().await });
            }
            signals
        });
        sim.drain(&ex);
        let task = ex.spawn(async move {
            let mut signals = signals.map(Vec::into_iter);
            let mut seen = String::new();
            for wake in wakes.chars() {
                if wake == '|' {
                    // The tasks of other queues have their turns, too.
                    yields(wakes.len().try_into().unwrap()).await;
                    seen.push('|');
                } else {
                    let queue = "abc".find(wake).unwrap();
                    signals[queue].next().unwrap().set();
                    seen.push(if should_yield() { '+' } else { '-' });
                }
            }
            seen
        });
        assert_eq!(sim.run(&ex, task).unwrap(), expected, "{wakes}");
    }
}

/// A spawn joins at once, so it is known whether the other queue is to be served first.
#[test]
fn due_when_a_spawn_makes_a_queue_due_earlier() {
    for (request_us, due) in [(50, true), (5_000, false)] {
        let sim = VirtualTime::new();
        let ex = sim.executor();
        let other = ex.new_queue("other").request(us(request_us)).create().unwrap();
        let task = ex.spawn(async move {
            other.spawn(async {});
            should_yield()
        });
        assert_eq!(sim.run(&ex, task).unwrap(), due, "request of {request_us} µs");
    }
}

#[test]
fn due_when_the_future_given_to_run_until_was_woken() {
    let sim = VirtualTime::new();
    let ex = sim.executor();
    let (go, seen) = (Signal::new(), Rc::new(Cell::new(None)));
    ex.spawn({
        let (go, seen) = (go.clone(), Rc::clone(&seen));
        async move {
            let before = should_yield();
            go.set();
            seen.set(Some((before, should_yield())));
        }
    });
    sim.run(&ex, go.wait());
    assert_eq!(seen.get(), Some((false, true)));
}

#[test]
fn yield_if_due_goes_on_within_a_slice_and_yields_at_its_end() {
    let sim = VirtualTime::new();
    let ex = sim.builder().host_budget(NEVER).build().unwrap();
    let trace = Trace::new();
    let long = ex.new_queue("long").request(us(300)).create().unwrap();
    let other = ex.new_queue("other").request(us(300)).create().unwrap();
    let computation = long.spawn({
        let (sim, trace) = (sim.clone(), trace.clone());
        async move {
            for chunk in 1..=7 {
                trace.note(format!("c{chunk}"));
                sim.work(us(100));
                yield_if_due().await;
            }
        }
    });
    other.spawn(poller(&sim, &trace, "o", 3, us(300)));
    sim.drain(&ex);
    assert_eq!(trace.take(), "c1 c2 c3 o1 c4 c5 c6 o2 c7 o3");
    // Three chunks to a poll, and the end.
    assert_eq!(long.stats().polls, 3);
    assert!(computation.is_finished());
}

#[test]
fn yield_if_due_yields_once() {
    let polls = contended(100, async |sim: &VirtualTime| {
        let polls = Cell::new(0);
        sim.work(us(150));
        let mut due = std::pin::pin!(yield_if_due());
        std::future::poll_fn(|cx| {
            polls.set(polls.get() + 1);
            // It is due again by the second poll, which must end all the same.
            sim.work(us(150));
            due.as_mut().poll(cx)
        })
        .await;
        polls.get()
    });
    assert_eq!(polls, 2);
}
