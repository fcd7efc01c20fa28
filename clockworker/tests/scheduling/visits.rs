//! When the host is visited, and who goes first afterwards.

use std::cell::{Cell, RefCell};
use std::future::{pending, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use clockworker::schedulers::{Ready, RunnableFifo, Scheduler, Task, TaskId};
use clockworker::{Executor, HOST_BUDGETS, ManualClock, yield_now};

use crate::support::{Signal, VirtualTime, compute, never_rests, poll_once, us, yields};

/// Why tasks became ready: the slot and the reason.
type Seen = Rc<RefCell<Vec<(usize, Ready)>>>;

/// RunnableFifo, which notes why tasks became ready.
#[derive(Default)]
struct Noting {
    fifo: RunnableFifo,
    seen: Seen,
}

impl Scheduler for Noting {
    const NEEDS_SERVICE: bool = false;

    fn push(&mut self, task: Task, why: Ready) {
        self.seen.borrow_mut().push((task.id.slot(), why));
        self.fifo.push(task, why);
    }

    fn pop(&mut self) -> Option<TaskId> {
        self.fifo.pop()
    }

    fn wants_woken(&self) -> bool {
        self.fifo.wants_woken()
    }
}

/// An executor whose host is visited after every poll, and the reasons why its tasks became ready.
fn noted() -> (Executor, Seen) {
    noted_on(&ManualClock::new())
}

fn noted_on(clock: &ManualClock) -> (Executor, Seen) {
    let policy = Noting::default();
    let seen = Rc::clone(&policy.seen);
    let builder = Executor::builder().scheduler(policy).clock(clock.clone()).poll_cap(1);
    (builder.build().unwrap(), seen)
}

fn reasons_of(slot: usize, seen: &Seen) -> Vec<Ready> {
    seen.borrow().iter().filter(|(of, _)| *of == slot).map(|(_, why)| *why).collect()
}

/// A task that waits for `signal`, again and again.
async fn wait_for_ever(signal: Signal) {
    loop {
        signal.wait().await;
    }
}

/// A task that waits for `signal` again and again, and whose polls take so long.
async fn wait_and_work(signal: Signal, clock: ManualClock, poll: Duration) {
    loop {
        signal.wait().await;
        clock.advance(poll);
    }
}

/// Why a task became ready that each of so many visits woke, the first after its poll.
fn reasons_of_one_that_each_visit_wakes(poll: Duration, visits: usize) -> Vec<Ready> {
    let clock = ManualClock::new();
    let (ex, seen) = noted_on(&clock);
    let signal = Signal::new();
    ex.spawn(wait_and_work(signal.clone(), clock, poll));
    let mut run = pin!(ex.run_until(pending::<()>()));
    for _ in 0..visits {
        assert!(poll_once(&mut run).is_pending());
        signal.set();
    }
    assert!(poll_once(&mut run).is_pending());
    let reasons = reasons_of(0, &seen);
    // One that comes a visit later.
    assert!(poll_once(&mut run).is_pending());
    signal.set();
    assert!(poll_once(&mut run).is_pending());
    assert_eq!(reasons_of(0, &seen).last(), Some(&Ready::Woken));
    reasons
}

#[test]
fn the_eighth_wake_in_a_row_by_the_first_visit_after_a_poll_is_a_yield() {
    let mut expected = vec![Ready::Woken; 1 + 40];
    expected[0] = Ready::Spawned;
    expected[1 + 7..].fill(Ready::Deferred);
    for poll in [16, 500] {
        assert_eq!(reasons_of_one_that_each_visit_wakes(Duration::from_micros(poll), 40), expected);
    }
}

/// As a connection under load is, whose next request is always there by the next visit. (Of shorter ones few are measured.)
#[test]
fn a_task_whose_polls_are_short_does_not_yield_however_often_the_first_visit_wakes_it() {
    for poll in [3, 5, 15] {
        let reasons = reasons_of_one_that_each_visit_wakes(Duration::from_micros(poll), 200);
        assert!(reasons[1..].iter().all(|why| *why == Ready::Woken), "{reasons:?}");
    }
}

#[test]
fn what_another_task_or_thread_wakes_is_woken_however_often_and_soon() {
    let (ex, seen) = noted();
    let signals = [Signal::new(), Signal::new()];
    ex.spawn(wait_for_ever(signals[0].clone()));
    ex.spawn(wait_for_ever(signals[1].clone()));
    ex.spawn({
        let signal = signals[0].clone();
        async move {
            loop {
                signal.set();
                yield_now().await;
            }
        }
    });
    let mut run = pin!(ex.run_until(pending::<()>()));
    for _ in 0..30 {
        assert!(poll_once(&mut run).is_pending());
        // At once after its poll.
        if let Some(waker) = signals[1].take_waker() {
            std::thread::spawn(move || waker.wake()).join().unwrap();
        }
    }
    for slot in 0..2 {
        let reasons = reasons_of(slot, &seen);
        assert!(reasons.len() > 5, "{reasons:?}");
        assert!(reasons[1..].iter().all(|why| *why == Ready::Woken), "{reasons:?}");
    }
}

#[test]
fn a_wake_by_a_visit_is_no_yield_where_another_task_wakes_it_in_between() {
    let (ex, seen) = noted();
    let signal = Signal::new();
    ex.spawn(wait_for_ever(signal.clone()));
    ex.spawn({
        let (signal, mut polls) = (signal.clone(), 0);
        async move {
            loop {
                polls += 1;
                if polls % 2 == 0 {
                    signal.set();
                }
                yield_now().await;
            }
        }
    });
    let mut run = pin!(ex.run_until(pending::<()>()));
    for turn in 0..40 {
        assert!(poll_once(&mut run).is_pending());
        // The two take turns, and so it is woken by the visit and by the other task, in turn.
        if turn % 4 == 0 {
            signal.set();
        }
    }
    let reasons = reasons_of(0, &seen);
    assert!(reasons.len() > 15 && !reasons.contains(&Ready::Deferred), "{reasons:?}");
}

/// Many tasks that another one wakes wait for its poll, and the turn ends after it: their wakes are admitted in the next turn, but no visit
/// woke them.
#[test]
fn many_tasks_that_another_one_wakes_are_woken_also_where_the_turn_ends_with_its_poll() {
    const WAITERS: usize = 200;
    let policy = Noting::default();
    let seen = Rc::clone(&policy.seen);
    // A turn is a round.
    let builder =
        Executor::builder().scheduler(policy).clock(ManualClock::new()).poll_cap(WAITERS as u32 + 1);
    let ex = builder.build().unwrap();
    let signals: Vec<_> = (0..=WAITERS).map(|_| Signal::new()).collect();
    let (ringer, waiters) = signals.split_last().unwrap();
    for (number, signal) in waiters.iter().cloned().enumerate() {
        let ringer = ringer.clone();
        ex.spawn(async move {
            loop {
                signal.wait().await;
                if number + 1 == WAITERS {
                    ringer.set();
                }
            }
        });
    }
    let (ringer, waiters) = (ringer.clone(), waiters.to_vec());
    ex.spawn(async move {
        loop {
            waiters.iter().for_each(Signal::set);
            ringer.wait().await;
        }
    });
    let mut run = pin!(ex.run_until(pending::<()>()));
    for _ in 0..40 {
        assert!(poll_once(&mut run).is_pending());
    }
    let reasons: Vec<_> = seen.borrow().iter().map(|(_, why)| *why).skip(WAITERS + 1).collect();
    assert!(reasons.len() > 30 * WAITERS && reasons.iter().all(|why| *why == Ready::Woken));
}

/// A flood of woken tasks with polls of a millisecond leaves every other poll, not one in 32.
#[test]
fn a_task_that_yields_gets_every_other_poll_beside_long_polls_of_woken_tasks() {
    let sim = VirtualTime::new();
    let ex = sim.executor();
    let signals: Vec<_> = (0..2).map(|_| Signal::new()).collect();
    for number in 0..2 {
        let (sim, own, other) = (sim.clone(), signals[number].clone(), signals[1 - number].clone());
        ex.spawn(async move {
            loop {
                own.wait().await;
                sim.work(us(1_000));
                other.set();
            }
        });
    }
    let polls = Rc::new(Cell::new(0_u32));
    ex.spawn({
        let polls = Rc::clone(&polls);
        async move {
            loop {
                polls.set(polls.get() + 1);
                yield_now().await;
            }
        }
    });
    let until = sim.now() + Duration::from_millis(100);
    signals[0].set();
    sim.run(
        &ex,
        poll_fn(|cx| {
            cx.waker().wake_by_ref();
            if sim.now() >= until { Poll::Ready(()) } else { Poll::Pending }
        }),
    );
    assert!(polls.get() >= 50, "{} polls in 100 ms", polls.get());
}

#[test]
fn a_main_future_that_yields_needs_no_host_while_nothing_is_due() {
    let ex = Executor::builder().clock(ManualClock::new()).build().unwrap();
    let mut run = pin!(ex.run_until(yields(1_000)));
    assert!(poll_once(&mut run).is_ready());
    assert_eq!(ex.stats().host_polls, 1);
}

#[test]
fn a_main_future_that_yields_for_ever_leaves_the_thread_to_its_host() {
    for builder in [Executor::builder().poll_cap(100), Executor::builder()] {
        let ex = builder.clock(ManualClock::new()).build().unwrap();
        let mut run = pin!(ex.run_until(never_rests()));
        let _: Poll<()> = poll_once(&mut run);
        assert_eq!((ex.stats().host_polls, ex.stats().host_yields), (1, 1));
    }
}

/// How long a turn lasts, with a host that takes so long and finds nothing, or has something for a task each time.
fn turn(host: Duration, finds: bool) -> Duration {
    let sim = VirtualTime::new();
    let ex = Executor::builder().clock(sim.clock()).poll_cap(u32::MAX).build().unwrap();
    let signal = Signal::new();
    ex.spawn(wait_for_ever(signal.clone()));
    ex.spawn(compute(&sim, us(1)));
    let mut run = pin!(ex.run_until(pending::<()>()));
    let mut took = Duration::ZERO;
    for visit in 0..1_000 {
        let began = sim.now();
        assert!(poll_once(&mut run).is_pending());
        took = sim.now() - began;
        sim.clock().advance(host);
        if finds && visit % 2 == 0 {
            signal.set();
        }
    }
    took
}

#[test]
fn a_turn_lasts_twenty_times_as_long_as_a_visit_or_64_times_where_none_finds_anything() {
    for (host, usual, rare) in [(1, 20, 64), (2, 40, 128), (3, 60, 192)] {
        let (busy, idle) = (turn(us(host), true), turn(us(host), false));
        // What is taken for the cost is right to a sixteenth, and a turn to a reading of the clock.
        assert!(busy.abs_diff(us(usual)) <= us(usual / 16 + 3), "{busy:?} for a visit of {host} µs");
        assert!(idle.abs_diff(us(rare)) <= us(rare / 16 + 3), "{idle:?} for a visit of {host} µs");
    }
    let least = turn(Duration::ZERO, true);
    assert!(least.abs_diff(*HOST_BUDGETS.start()) <= us(3), "{least:?}");
    let most = turn(us(50), true);
    assert!(most.abs_diff(*HOST_BUDGETS.end()) <= us(3), "{most:?}");
}

/// A task wakes many in each of its polls, so that they wait when the turn ends: that is nothing that the visit has found.
#[test]
fn visits_become_rarer_also_where_each_turn_leaves_many_woken_tasks() {
    const WAITERS: usize = 4_000;
    let sim = VirtualTime::new();
    let ex = Executor::builder().clock(sim.clock()).poll_cap(u32::MAX).build().unwrap();
    let signals: Vec<_> = (0..WAITERS).map(|_| Signal::new()).collect();
    signals.iter().for_each(|signal| drop(ex.spawn(wait_for_ever(signal.clone()))));
    let last = Signal::new();
    ex.spawn({
        let (waited, last) = (signals[WAITERS - 1].clone(), last.clone());
        async move {
            loop {
                waited.wait().await;
                last.set();
            }
        }
    });
    ex.spawn({
        let sim = sim.clone();
        async move {
            loop {
                signals.iter().for_each(Signal::set);
                sim.work(us(15));
                last.wait().await;
            }
        }
    });
    let mut run = pin!(ex.run_until(pending::<()>()));
    let mut took = Duration::ZERO;
    for _ in 0..100 {
        let began = sim.now();
        assert!(poll_once(&mut run).is_pending());
        took = sim.now() - began;
        sim.clock().advance(us(1));
    }
    assert_eq!(took, us(75), "the first multiple of 15 µs after 64");
}

/// Beside a queue that always has work, a queue whose task the visits of these turns wake: the polls of both in each turn.
fn polls_beside_background(is_woken: impl Fn(usize) -> bool, turns: usize) -> Vec<(u64, u64)> {
    let sim = VirtualTime::new();
    let ex = Executor::builder().clock(sim.clock()).build().unwrap();
    let foreground = ex.new_queue("foreground").share(9).create().unwrap();
    let background = ex.new_queue("background").create().unwrap();
    let signal = Signal::new();
    foreground.spawn({
        let (signal, sim) = (signal.clone(), sim.clone());
        async move {
            loop {
                signal.wait().await;
                sim.work(us(1));
            }
        }
    });
    background.spawn(compute(&sim, us(60)));
    let mut run = pin!(ex.run_until(pending::<()>()));
    let polls = || (foreground.stats().polls, background.stats().polls);
    // Until a slice of the foreground is as long as it likes.
    (0..10).for_each(|_| assert!(poll_once(&mut run).is_pending()));
    (0..turns)
        .map(|turn| {
            if is_woken(turn) {
                signal.set();
            }
            let before = polls();
            assert!(poll_once(&mut run).is_pending());
            (polls().0 - before.0, polls().1 - before.1)
        })
        .collect()
}

#[test]
fn the_host_is_visited_when_what_it_woke_is_done_and_then_the_others_have_a_turn() {
    assert_eq!(polls_beside_background(|turn| turn == 0, 4), [(1, 0), (0, 1), (0, 1), (0, 1)]);
    let always = polls_beside_background(|_| true, 100);
    // By virtual deadline the background was first, once.
    assert_eq!(always[..2], [(1, 0), (0, 1)]);
    assert_eq!(always[2..], [(1, 1), (1, 0)].repeat(49));
}

/// Each visit takes 300 µs and wakes a foreground whose polls take longer together than a turn: then the host is due when it
/// has drained, early visits or not, and the shares alone are left to see to the background.
#[test]
fn a_background_has_its_share_of_the_polls_time_also_where_every_visit_wakes_the_foreground() {
    for (tasks, poll) in [(1, us(1)), (1, us(30)), (5, us(3)), (30, us(3)), (200, us(3))] {
        let sim = VirtualTime::new();
        let ex = Executor::builder().clock(sim.clock()).build().unwrap();
        let foreground = ex.new_queue("foreground").share(9).create().unwrap();
        let background = ex.new_queue("background").create().unwrap();
        let signals: Vec<_> = (0..tasks).map(|_| Signal::new()).collect();
        for signal in signals.clone() {
            let sim = sim.clone();
            foreground.spawn(async move {
                loop {
                    signal.wait().await;
                    sim.work(poll);
                }
            });
        }
        background.spawn(compute(&sim, us(60)));
        let mut run = pin!(ex.run_until(pending::<()>()));
        for _ in 0..10_000 {
            assert!(poll_once(&mut run).is_pending());
            sim.clock().advance(us(300));
            signals.iter().for_each(Signal::set);
        }
        let (foreground, background) = (foreground.stats().busy, background.stats().busy);
        // Two turns of it may be owed.
        assert!(
            background * 9 + 2 * 9 * us(1_000) >= foreground,
            "{tasks} of {poll:?}: {foreground:?}, {background:?}"
        );
    }
}

/// How many polls the turn has after a visit that woke so many tasks, whose polls take so long, beside one that yields.
fn polls_after_visit(woken: usize, poll: Duration) -> u64 {
    let sim = VirtualTime::new();
    let ex = Executor::builder().clock(sim.clock()).poll_cap(u32::MAX).build().unwrap();
    let signals: Vec<_> = (0..woken).map(|_| Signal::new()).collect();
    for signal in signals.clone() {
        let sim = sim.clone();
        ex.spawn(async move {
            signal.wait().await;
            sim.work(poll);
        });
    }
    ex.spawn(compute(&sim, us(5)));
    // Several, until the clock is read after each poll, as they take long enough.
    let mut run = pin!(ex.run_until(pending::<()>()));
    (0..5).for_each(|_| assert!(poll_once(&mut run).is_pending()));
    signals.iter().for_each(Signal::set);
    let before = ex.stats().polls;
    assert!(poll_once(&mut run).is_pending());
    ex.stats().polls - before
}

#[test]
fn what_a_visit_woke_is_polled_before_the_next_where_that_takes_little() {
    assert_eq!(polls_after_visit(30, us(3)), 30);
    // 198 µs and one poll of the task that yields.
    assert_eq!(polls_after_visit(100, us(3)), 66);
    assert_eq!(polls_after_visit(30, us(100)), 1);
}
