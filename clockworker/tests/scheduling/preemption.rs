//! A queue that wakes up cuts the running slice short, after the poll under way, if it is to be served first.
//!
//! In every test, `l` is a task of a queue with a request of 500 µs and polls of 100 µs.

use std::thread;

use clockworker::{Executor, yield_now};

use crate::support::*;

/// How the running task wakes the other queue.
#[derive(Clone, Copy, Debug)]
enum How {
    /// By a waker, on the executor's thread.
    Waker,
    /// By a waker, on another thread.
    RemoteWaker,
    /// By spawning a task there.
    Spawn,
    /// By spawning a task there through a `Handle`, on another thread.
    RemoteSpawn,
}

/// Six polls of `l`, the second of which wakes a task of the other queue, in its middle. Noted as `s`, and as `w` when it is woken.
fn run_and_wake(ex: &Executor, how: How) -> String {
    let (signal, other, handle) = (Signal::new(), queue(ex, "other"), ex.handle());
    if matches!(how, How::Waker | How::RemoteWaker) {
        let waited = signal.clone();
        other.spawn(async move {
            waited.wait().await;
            polls("s", 1, us(10)).await;
        });
        // It waits from now on, and has cost its queue nothing.
        drain(ex);
        assert_eq!(other.stats().polls, 1);
    }
    let wake = move || match how {
        How::Waker => signal.set(),
        How::RemoteWaker => {
            let waker = signal.take_waker().expect("a task waits");
            thread::spawn(move || waker.wake()).join().unwrap();
        }
        How::Spawn => drop(other.spawn(polls("s", 1, us(10)))),
        How::RemoteSpawn => {
            let handle = handle.clone();
            let spawned = thread::spawn(move || handle.spawn_on("other", || polls("s", 1, us(10))));
            drop(spawned.join().unwrap());
        }
    };
    let last = queue(ex, "long").spawn(async move {
        for poll in 1..=6 {
            note(format!("l{poll}"));
            work(us(60));
            if poll == 2 {
                note("w");
                wake();
            }
            work(us(40));
            yield_now().await;
        }
    });
    run(ex, last).unwrap();
    trace()
}

/// Whether a queue of that share and request goes on after the poll under way, or at the end of the slice.
#[track_caller]
fn assert_preempts(share: u32, request: u64, preempts: bool) {
    let order = if preempts { "l1 l2 w s1 l3 l4 l5 l6" } else { "l1 l2 w l3 l4 l5 s1 l6" };
    for how in [How::Waker, How::RemoteWaker, How::Spawn, How::RemoteSpawn] {
        let ex = scene(&format!("long\n other share={share} request={request}"));
        assert_eq!(run_and_wake(&ex, how), order, "{how:?}");
        let preemptions = ["long", "other"].map(|name| queue(&ex, name).stats().preemptions);
        assert_eq!(preemptions, [u64::from(preempts), 0], "{how:?}");
    }
}

#[test]
fn a_queue_that_is_due_earlier_goes_on_after_the_poll_under_way() {
    // Woken when V is 200, due at 250; the long one is due at 500.
    assert_preempts(1, 50, true);
    assert_preempts(1, 5_000, false);
    // At equal requests the one that began first finishes its turn.
    assert_preempts(1, 500, false);
    // Due after 500 µs of service at share 9: 56 µs of virtual time.
    assert_preempts(9, 500, true);
}

/// A queue that is ahead of what it is owed does not preempt, however early it is due.
#[test]
fn a_queue_in_debt_does_not_preempt() {
    let ex = scene(
        "long
        other request=50
        other s: 300~ 0
        long l: 100+wake(s) 100*6",
    );
    assert_eq!(drain(&ex), "s1 l1 l2 l3 l4 l5 s2 l6 l7");
    assert_eq!(ex.stats().preemptions, 0);
}

/// Waking another task of the running queue is no reason to stop, nor is waking one of a queue that is runnable already.
#[test]
fn only_a_queue_that_becomes_runnable_preempts() {
    let ex = scene(
        "long
        small request=200
        small s: 200*3
        later long own: 0~ 0
        later small t: 0
        long l: 100+spawn(own) 100+wake(own)+spawn(t) 100*3 0",
    );
    // s1 puts the small one 200 µs ahead. l2 brings V to 200 and the small one, runnable all the time, is due first from
    // then on, but the slice of 500 µs stands. Its own task runs when l2 has yielded behind it, for the second time. The new one
    // goes before the one that yields for the second time.
    assert_eq!(drain(&ex), "s1 l1 own1 l2 own2 l3 l4 l5 s2 t1 s3 l6");
    assert_eq!(ex.stats().preemptions, 0);
}

/// What is left of the turn after a preemption is what was left before, so preempting a queue gives it no new turn.
#[test]
fn a_preempted_queue_goes_on_with_what_is_left_of_its_turn() {
    let ex = scene(
        "peer
        long
        small request=50
        later small s: 1
        long l: 100+spawn(s)*3 100*4
        peer p: 100*6",
    );
    // The peer was there first. After five polls each both are due at 1,000, and it is its turn again: with a new turn
    // after each preemption the long one would have gone on.
    assert_eq!(drain(&ex), "p1 p2 p3 p4 p5 l1 s1 l2 s1 l3 s1 l4 l5 p6 l6 l7");
    assert_eq!(queue(&ex, "long").stats().preemptions, 3);
}

/// A queue that has had its turn gives way, also if another queue joins just then that is not to be served first.
#[test]
fn a_wake_at_the_end_of_a_turn_gives_no_second_turn() {
    for by_spawning in [true, false] {
        let ex = scene("one request=200\n two request=200\n late request=50000");
        let late = queue(&ex, "late");
        queue(&ex, "one").spawn(async move {
            for poll in 1..=6 {
                note(format!("a{poll}"));
                work(us(100));
                match by_spawning {
                    true if poll == 2 => drop(late.spawn(async {})),
                    true => {}
                    false => late.set_share(poll).unwrap(),
                }
                yield_now().await;
            }
        });
        queue(&ex, "two").spawn(polls("b", 6, us(100)));
        assert_eq!(drain(&ex), "a1 a2 b1 b2 a3 a4 b3 b4 a5 a6 b5 b6", "by spawning: {by_spawning}");
    }
}

/// Two queues of small requests wake in one poll: the one that is due first runs first, and each after its own poll.
#[test]
fn of_two_that_wake_in_one_poll_the_one_due_first_is_first() {
    let ex = scene(
        "long
        small request=100
        smaller request=50
        later small a: 10*2
        later smaller b: 10*2
        long l: 100+spawn(a)+spawn(b) 0",
    );
    assert_eq!(drain(&ex), "l1 b1 b2 a1 a2 l2");
    assert_eq!(queue(&ex, "long").stats().preemptions, 1);
}

/// Questions of other threads, and what is refused as it comes, end the slice: but no queue wanted that.
#[test]
fn what_other_threads_ask_preempts_nothing() {
    let ex = world();
    let (handle, closing) = (ex.handle(), ex.new_queue("closing").create().unwrap());
    let task = ex.spawn(async move {
        for _ in 0..3 {
            let asked = handle.clone();
            thread::spawn(move || drop(poll_once(&mut Box::pin(asked.stats())))).join().unwrap();
            yield_now().await;
        }
        thread::spawn(move || drop(handle.spawn_on("closing", || async {}))).join().unwrap();
        closing.close();
        yield_now().await;
    });
    run(&ex, task).unwrap();
    assert_eq!(ex.stats().preemptions, 0);
}
