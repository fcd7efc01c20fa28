//! A queue that wakes up cuts the running slice short, after the poll under way, if it is to be served first.
//!
//! In every test, `l` is a task of a queue with a request of 500 µs and polls of 100 µs.

use std::cell::RefCell;
use std::thread;
use std::time::Duration;

use clockworker::{Executor, Queue};

use crate::support::{Signal, Trace, VirtualTime, poller, us};

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

const HOWS: [How; 4] = [How::Waker, How::RemoteWaker, How::Spawn, How::RemoteSpawn];

struct World {
    sim: VirtualTime,
    trace: Trace,
    ex: Executor,
    long: Queue,
    other: Queue,
}

impl World {
    /// The other queue has that request.
    fn new(request: Duration) -> Self {
        let (sim, trace) = (VirtualTime::new(), Trace::new());
        let ex = sim.executor();
        let long = ex.new_queue("long").request(us(500)).create().unwrap();
        let other = ex.new_queue("other").request(request).create().unwrap();
        Self { sim, trace, ex, long, other }
    }

    /// Six polls of `l`, the second of which wakes a task of the other queue, in its middle. Noted as `s`, and as `w`
    /// when it is woken.
    fn run(&self, how: How) -> String {
        let signal = Signal::new();
        if matches!(how, How::Waker | How::RemoteWaker) {
            let (sim, trace, signal) = (self.sim.clone(), self.trace.clone(), signal.clone());
            self.other.spawn(async move {
                signal.wait().await;
                trace.note("s1");
                sim.work(us(10));
            });
            // It waits from now on, and has cost its queue nothing.
            self.sim.drain(&self.ex);
            assert_eq!(self.other.stats().polls, 1);
        }
        let (sim, trace, other, handle) =
            (self.sim.clone(), self.trace.clone(), self.other.clone(), self.ex.handle());
        let last = self.long.spawn(async move {
            for poll in 1..=6 {
                trace.note(format!("l{poll}"));
                sim.work(us(60));
                if poll == 2 {
                    trace.note("w");
                    match how {
                        How::Waker => signal.set(),
                        How::RemoteWaker => {
                            let waker = signal.take_waker().expect("somebody waits");
                            thread::spawn(move || waker.wake()).join().unwrap();
                        }
                        How::Spawn => drop(other.spawn(poller(&sim, &trace, "s", 1, us(10)))),
                        How::RemoteSpawn => {
                            let handle = handle.clone();
                            let spawned = thread::spawn(move || handle.spawn_on("other", note_remote));
                            drop(spawned.join().unwrap());
                        }
                    }
                }
                sim.work(us(40));
                clockworker::yield_now().await;
            }
        });
        REMOTE.set(Some((self.sim.clone(), self.trace.clone())));
        self.sim.run(&self.ex, last).unwrap();
        self.trace.take()
    }
}

thread_local! {
    /// For the task that another thread spawns, whose closure cannot carry what is not `Send`.
    static REMOTE: RefCell<Option<(VirtualTime, Trace)>> = const { RefCell::new(None) };
}

async fn note_remote() {
    let (sim, trace) = REMOTE.with_borrow(|remote| remote.clone()).expect("this is the executor's thread");
    poller(&sim, &trace, "s", 1, us(10)).await;
}

#[test]
fn a_queue_that_is_due_earlier_goes_on_after_the_poll_under_way() {
    for how in HOWS {
        // Woken when V is 200, due at 250; the long one is due at 500.
        let world = World::new(us(50));
        assert_eq!(world.run(how), "l1 l2 w s1 l3 l4 l5 l6", "{how:?}");
        assert_eq!(world.long.stats().preemptions, 1, "{how:?}");
        assert_eq!(world.other.stats().preemptions, 0, "{how:?}");
    }
}

#[test]
fn a_queue_that_is_due_later_waits_for_the_end_of_the_slice() {
    for how in HOWS {
        let world = World::new(us(5_000));
        assert_eq!(world.run(how), "l1 l2 w l3 l4 l5 s1 l6", "{how:?}");
        assert_eq!(world.ex.stats().preemptions, 0, "{how:?}");
    }
}

#[test]
fn at_equal_requests_whoever_began_first_finishes_its_turn() {
    for how in HOWS {
        let world = World::new(us(500));
        assert_eq!(world.run(how), "l1 l2 w l3 l4 l5 s1 l6", "{how:?}");
        assert_eq!(world.ex.stats().preemptions, 0, "{how:?}");
    }
}

#[test]
fn a_larger_share_is_due_earlier_at_the_same_request() {
    for how in HOWS {
        let world = World::new(us(500));
        world.other.set_share(9).unwrap();
        // Due after 500 µs of service at share 9: 56 µs of virtual time.
        assert_eq!(world.run(how), "l1 l2 w s1 l3 l4 l5 l6", "{how:?}");
        assert_eq!(world.long.stats().preemptions, 1, "{how:?}");
    }
}

/// A queue that is ahead of what it is owed does not preempt, however early it is due.
#[test]
fn a_queue_in_debt_does_not_preempt() {
    let (sim, trace, signal) = (VirtualTime::new(), Trace::new(), Signal::new());
    let ex = sim.executor();
    let long = ex.new_queue("long").request(us(500)).create().unwrap();
    let other = ex.new_queue("other").request(us(50)).create().unwrap();
    other.spawn({
        let (sim, trace, signal) = (sim.clone(), trace.clone(), signal.clone());
        async move {
            trace.note("s1");
            sim.work(us(300));
            signal.wait().await;
            trace.note("s2");
        }
    });
    let last = long.spawn({
        let (sim, trace) = (sim.clone(), trace.clone());
        async move {
            for poll in 1..=7 {
                trace.note(format!("l{poll}"));
                sim.work(us(100));
                if poll == 1 {
                    signal.set();
                }
                clockworker::yield_now().await;
            }
        }
    });
    sim.run(&ex, last).unwrap();
    assert_eq!(trace.take(), "s1 l1 l2 l3 l4 l5 s2 l6 l7");
    assert_eq!(ex.stats().preemptions, 0);
}

/// Waking another task of the running queue is no reason to stop, nor is waking one of a queue that is runnable already.
#[test]
fn only_a_queue_that_becomes_runnable_preempts() {
    let (sim, trace, signal) = (VirtualTime::new(), Trace::new(), Signal::new());
    let ex = sim.executor();
    let long = ex.new_queue("long").request(us(500)).create().unwrap();
    let small = ex.new_queue("small").request(us(200)).create().unwrap();
    small.spawn(poller(&sim, &trace, "s", 3, us(200)));
    let last = long.spawn({
        let (sim, trace, small) = (sim.clone(), trace.clone(), small.clone());
        async move {
            clockworker::spawn_local({
                let (trace, signal) = (trace.clone(), signal.clone());
                async move {
                    signal.wait().await;
                    trace.note("own");
                }
            });
            for poll in 1..=5 {
                trace.note(format!("l{poll}"));
                sim.work(us(100));
                if poll == 2 {
                    signal.set();
                    small.spawn(poller(&sim, &trace, "t", 1, us(0)));
                }
                clockworker::yield_now().await;
            }
        }
    });
    sim.run(&ex, last).unwrap();
    // s1 puts the small one 200 µs ahead. l2 brings V to 200 and the small one, runnable all the time, is due first from
    // then on, but the slice of 500 µs stands. Its own task runs when l2 has yielded behind it, for the second time. The new one
    // goes before the one that yields for the second time.
    assert_eq!(trace.take(), "s1 l1 l2 own l3 l4 l5 s2 t1 s3");
    assert_eq!(ex.stats().preemptions, 0);
}

/// What is left of the turn after a preemption is what was left before, so preempting somebody gives them no new turn.
#[test]
fn a_preempted_queue_goes_on_with_what_is_left_of_its_turn() {
    let (sim, trace) = (VirtualTime::new(), Trace::new());
    let ex = sim.executor();
    let peer = ex.new_queue("peer").request(us(500)).create().unwrap();
    let long = ex.new_queue("long").request(us(500)).create().unwrap();
    let small = ex.new_queue("small").request(us(50)).create().unwrap();
    long.spawn({
        let (sim, trace) = (sim.clone(), trace.clone());
        async move {
            for poll in 1..=7 {
                trace.note(format!("l{poll}"));
                sim.work(us(100));
                if poll <= 3 {
                    small.spawn(poller(&sim, &trace, "s", 1, us(1)));
                }
                clockworker::yield_now().await;
            }
        }
    });
    peer.spawn(poller(&sim, &trace, "p", 6, us(100)));
    sim.drain(&ex);
    // The peer was there first. After five polls each both are due at 1,000, and it is its turn again: with a new turn
    // after each preemption the long one would have gone on.
    assert_eq!(trace.take(), "p1 p2 p3 p4 p5 l1 s1 l2 s1 l3 s1 l4 l5 p6 l6 l7");
    assert_eq!(long.stats().preemptions, 3);
}

/// A queue that has had its turn gives way, also if another queue joins just then that is not to be served first.
#[test]
fn a_wake_at_the_end_of_a_turn_gives_no_second_turn() {
    for how in ["by spawning", "by changing a share"] {
        let (sim, trace) = (VirtualTime::new(), Trace::new());
        let ex = sim.executor();
        let one = ex.new_queue("one").request(us(200)).create().unwrap();
        let two = ex.new_queue("two").request(us(200)).create().unwrap();
        let late = ex.new_queue("late").request(us(50_000)).create().unwrap();
        one.spawn({
            let (sim, trace) = (sim.clone(), trace.clone());
            async move {
                for poll in 1..=6 {
                    trace.note(format!("a{poll}"));
                    sim.work(us(100));
                    match how {
                        "by spawning" if poll == 2 => drop(late.spawn(async {})),
                        "by changing a share" => late.set_share(poll).unwrap(),
                        _ => {}
                    }
                    clockworker::yield_now().await;
                }
            }
        });
        two.spawn(poller(&sim, &trace, "b", 6, us(100)));
        sim.drain(&ex);
        assert_eq!(trace.take(), "a1 a2 b1 b2 a3 a4 b3 b4 a5 a6 b5 b6", "{how}");
    }
}

/// Two queues of small requests wake in one poll: the one that is due first runs first, and each after its own poll.
#[test]
fn of_two_that_wake_in_one_poll_the_one_due_first_is_first() {
    let (sim, trace) = (VirtualTime::new(), Trace::new());
    let ex = sim.executor();
    let long = ex.new_queue("long").request(us(500)).create().unwrap();
    let small = ex.new_queue("small").request(us(100)).create().unwrap();
    let smaller = ex.new_queue("smaller").request(us(50)).create().unwrap();
    let last = long.spawn({
        let (sim, trace) = (sim.clone(), trace.clone());
        async move {
            trace.note("l1");
            sim.work(us(100));
            small.spawn(poller(&sim, &trace, "a", 2, us(10)));
            smaller.spawn(poller(&sim, &trace, "b", 2, us(10)));
            clockworker::yield_now().await;
            trace.note("l2");
        }
    });
    sim.run(&ex, last).unwrap();
    assert_eq!(trace.take(), "l1 b1 b2 a1 a2 l2");
    assert_eq!(long.stats().preemptions, 1);
}
