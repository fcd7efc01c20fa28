//! How late a timer may be, without a wall clock.

use std::cell::Cell;
use std::pin::pin;
use std::rc::{Rc, Weak};
use std::time::{Duration, Instant};

use clockworker::{Executor, ManualClock, yield_now};

use crate::host::{Io, Timers, hosts};

const POLL: Duration = Duration::from_micros(10);
const LATEST: Duration = Duration::from_micros(1_300 + 200 + 10);

/// When it was seen that the timer is due: by the executor's clock, and in which turn.
type Seen = Rc<Cell<Option<(Duration, u64)>>>;

/// Sleeps, and has one of the tasks that compute watch for the deadline.
async fn watched_sleep(io: Io, watched: Rc<Cell<Option<Instant>>>, seen: &Seen) -> (Duration, u64) {
    let time = Duration::from_millis(1);
    loop {
        let mut sleep = pin!((io.sleep)(time));
        // The first poll sets the timer, and the clock is read after that. Hosts have timers of a millisecond, and
        // round up.
        if futures::poll!(sleep.as_mut()).is_pending() {
            #[allow(clippy::disallowed_methods, reason = "the host's clock, to know when its timer is due")]
            watched.set(Some(Instant::now() + time + Duration::from_millis(1)));
            sleep.await;
            if let Some(seen) = seen.take() {
                return seen;
            }
        }
        // The operating system has stopped this thread for a millisecond, before anybody could watch. Once more.
        watched.set(None);
    }
}

/// Computes until it is stopped; where a deadline is to be watched, until that is over.
async fn compute(
    ex: Weak<Executor>,
    clock: ManualClock,
    stop: Rc<Cell<bool>>,
    watched: Rc<Cell<Option<Instant>>>,
    seen: Seen,
) {
    while !stop.get() {
        if let Some(deadline) = watched.take() {
            #[allow(clippy::disallowed_methods, reason = "computes until the host's timer is due")]
            while Instant::now() < deadline {
                std::hint::spin_loop();
            }
            let turn = ex.upgrade().expect("it runs").stats().host_polls;
            seen.set(Some((clock.now(), turn)));
        }
        clock.advance(POLL);
        yield_now().await;
    }
}

/// How late a timer may be, without a wall clock.
///
/// A task computes, in one poll, until the timer's deadline is past by the host's own clock. From then on the timer is due,
/// and the executor has not been back to its host since. So the host fires it when this turn is over: not later, and
/// not only when the executor has nothing left to do. In the next turn
///
/// * the future given to `run_until` is polled first of all;
/// * a task must wait for the tasks before it and the other queues, as anybody. By the executor's clock, which moves on
///   by 10 µs at each poll that computes, and stands still else: its queue has a fifth of the CPU. Before it there are
///   at most the four tasks that compute, 40 µs. EEVDF lets a queue fall back by, or have been ahead of its share by, no
///   more than a request (100 µs) and a poll: 220 µs. So it takes (40 + 220) × 5 = 1300 µs at most, and before that what
///   is left of the turn in which the timer came due, 200 µs and a poll. The queue with four fifths is served sooner.
async fn check_timers_fire_after_the_turn(ex: Rc<Executor>, io: Io, clock: ManualClock) {
    let requests = Duration::from_micros(100);
    let queues = [
        ex.new_queue("background").request(requests).create().unwrap(),
        ex.new_queue("foreground").share(4).request(requests).create().unwrap(),
    ];
    let stop = Rc::new(Cell::new(false));
    let watched = Rc::new(Cell::new(None::<Instant>));
    let seen = Seen::default();
    let mut computing = Vec::new();
    for queue in &queues {
        for _ in 0..4 {
            let (ex, clock, stop) = (Rc::downgrade(&ex), clock.clone(), Rc::clone(&stop));
            let (watched, seen) = (Rc::clone(&watched), Rc::clone(&seen));
            computing.push(queue.spawn(compute(ex, clock, stop, watched, seen)));
        }
    }
    let echoes: Vec<_> = queues.iter().map(|queue| queue.spawn((io.echo)(200))).collect();
    for _ in 0..5 {
        let (_, turn) = watched_sleep(io, Rc::clone(&watched), &seen).await;
        assert_eq!(ex.stats().host_polls, turn + 1, "the turn in which it was polled");
        for queue in &queues {
            let (watched, seen, clock) = (Rc::clone(&watched), Rc::clone(&seen), clock.clone());
            let sleeper = queue.spawn(async move {
                let (due, _) = watched_sleep(io, watched, &seen).await;
                clock.now() - due
            });
            let late = sleeper.await.unwrap();
            assert!(late <= LATEST, "late by {late:?} of computation, in {}", queue.name());
        }
    }
    for task in echoes {
        task.await.unwrap();
    }
    stop.set(true);
    for task in computing {
        task.await.unwrap();
    }
}

#[test]
fn timers_fire_after_the_turn() {
    for host in hosts(Timers::AfterTurn) {
        let clock = ManualClock::new();
        let ex = Executor::builder().clock(clock.clone()).build().unwrap();
        host.play(ex, |ex, io| check_timers_fire_after_the_turn(ex, io, clock));
    }
}
