//! When the host is visited, and who goes first afterwards.

use std::cell::RefCell;
use std::future::{pending, poll_fn};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::Poll;
use std::thread;
use std::time::Duration;

use clockworker::schedulers::Ready;
use clockworker::{Executor, RunUntil, yield_now};

use crate::support::*;

/// Why tasks became ready: the slot and the reason.
type Seen = Rc<RefCell<Vec<(usize, Ready)>>>;

/// An executor whose turns have so many polls at most, and the reasons why its tasks became ready.
fn watched(poll_cap: u32) -> (Executor, Seen) {
    let seen = Seen::default();
    let sees = Rc::clone(&seen);
    let spy = Spy::<false>::fifo().listening(move |call| {
        if let Call::Push(task, why) = call {
            sees.borrow_mut().push((task.id.slot(), why));
        }
    });
    (hosted_builder().scheduler(spy).poll_cap(poll_cap).build().unwrap(), seen)
}

fn reasons_of(slot: usize, seen: &Seen) -> Vec<Ready> {
    seen.borrow().iter().filter(|(of, _)| *of == slot).map(|(_, why)| *why).collect()
}

fn signals(count: usize) -> Vec<Signal> {
    (0..count).map(|_| Signal::new()).collect()
}

/// A task that waits for `signal` again and again, and whose polls take so long.
async fn wait_and_work(signal: Signal, poll: Duration) {
    loop {
        signal.wait().await;
        work(poll);
    }
}

/// One turn of a run that never ends.
fn go_on(run: &mut Pin<&mut RunUntil<'_, std::future::Pending<()>>>) {
    assert!(poll_once(run).is_pending());
}

/// Nothing says that this host has deferred it.
#[test]
fn a_task_that_each_visit_wakes_is_woken_however_often() {
    let (ex, seen) = watched(1);
    let signal = Signal::new();
    ex.spawn(wait_and_work(signal.clone(), us(500)));
    let mut run = pin!(ex.run_until(pending::<()>()));
    for _ in 0..40 {
        go_on(&mut run);
        signal.set();
    }
    assert!(reasons_of(0, &seen)[1..].iter().all(|why| *why == Ready::Woken));
}

#[test]
fn what_another_task_or_thread_wakes_is_woken_however_often_and_soon() {
    let (ex, seen) = watched(1);
    let [first, second] = [Signal::new(), Signal::new()];
    ex.spawn(wait_and_work(first.clone(), us(0)));
    ex.spawn(wait_and_work(second.clone(), us(0)));
    ex.spawn(async move {
        loop {
            first.set();
            yield_now().await;
        }
    });
    let mut run = pin!(ex.run_until(pending::<()>()));
    for _ in 0..30 {
        go_on(&mut run);
        // At once after its poll.
        if let Some(waker) = second.take_waker() {
            thread::spawn(move || waker.wake()).join().unwrap();
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
    let (ex, seen) = watched(1);
    let signal = Signal::new();
    ex.spawn(wait_and_work(signal.clone(), us(0)));
    let wakes = signal.clone();
    ex.spawn(async move {
        for poll in 1_u64.. {
            if poll % 2 == 0 {
                wakes.set();
            }
            yield_now().await;
        }
    });
    let mut run = pin!(ex.run_until(pending::<()>()));
    for turn in 0..40 {
        go_on(&mut run);
        // The two take turns, and so it is woken by the visit and by the other task, in turn.
        if turn % 4 == 0 {
            signal.set();
        }
    }
    let reasons = reasons_of(0, &seen);
    assert!(reasons.len() > 15 && !reasons.contains(&Ready::Deferred), "{reasons:?}");
}

/// Tasks that wait, and one that wakes them all in each of its polls, which take so long, and waits for the last of them.
fn ring_for(ex: &Executor, waiters: usize, poll: Duration) {
    let (all, back) = (signals(waiters), Signal::new());
    for (number, signal) in all.iter().cloned().enumerate() {
        let back = back.clone();
        ex.spawn(async move {
            loop {
                signal.wait().await;
                if number + 1 == waiters {
                    back.set();
                }
            }
        });
    }
    ex.spawn(async move {
        loop {
            all.iter().for_each(Signal::set);
            work(poll);
            back.wait().await;
        }
    });
}

/// Many tasks that another one wakes wait for its poll, and the turn ends after it: their wakes are admitted in the next turn, but no visit
/// woke them.
#[test]
fn many_tasks_that_a_poll_wakes_are_woken_where_the_turn_ends_with_it() {
    const WAITERS: usize = 200;
    // A turn is a round.
    let (ex, seen) = watched(WAITERS as u32 + 1);
    ring_for(&ex, WAITERS, us(0));
    let mut run = pin!(ex.run_until(pending::<()>()));
    (0..40).for_each(|_| go_on(&mut run));
    let reasons: Vec<_> = seen.borrow().iter().map(|(_, why)| *why).skip(WAITERS + 1).collect();
    assert!(reasons.len() > 30 * WAITERS && reasons.iter().all(|why| *why == Ready::Woken));
}

/// A flood of woken tasks with polls of a millisecond leaves every other poll, not one in 32.
#[test]
fn a_task_that_yields_gets_every_other_poll_beside_long_woken_ones() {
    let ex = scene(
        "default a: 1000+wake(b)~*
        default b: 0~ 1000+wake(a)~*
        default yields: 0*",
    );
    let until = now() + Duration::from_millis(100);
    let main = poll_fn(|cx| {
        cx.waker().wake_by_ref();
        if now() >= until { Poll::Ready(()) } else { Poll::Pending }
    });
    run(&ex, main);
    assert!(starts("yields").len() >= 50, "{} polls in 100 ms", starts("yields").len());
}

#[test]
fn a_main_future_that_yields_needs_no_host_while_nothing_is_due() {
    let ex = hosted();
    assert!(poll_once(&mut pin!(ex.run_until(yields(1_000)))).is_ready());
    assert_eq!(ex.stats().host_polls, 1);
}

#[test]
fn a_main_future_that_yields_for_ever_leaves_the_thread_to_its_host() {
    for ex in [hosted_builder().poll_cap(100).build().unwrap(), hosted()] {
        let _: Poll<()> = poll_once(&mut pin!(ex.run_until(never_rests())));
        assert_eq!((ex.stats().host_polls, ex.stats().host_yields), (1, 1));
    }
}

/// An executor whose turns are ended by its host's budget alone.
fn without_poll_cap() -> Executor {
    hosted_builder().poll_cap(u32::MAX).build().unwrap()
}

/// How long the last of so many turns lasts, with a host that takes so long and does something before it gives the thread back.
fn last_turn(ex: &Executor, visits: usize, host: Duration, visit: impl Fn(usize)) -> Duration {
    let mut run = pin!(ex.run_until(pending::<()>()));
    let mut took = Duration::ZERO;
    for number in 0..visits {
        let began = now();
        go_on(&mut run);
        took = now() - began;
        time().clock().advance(host);
        visit(number);
    }
    took
}

/// How long a turn lasts, with a host that takes so long and finds nothing, or has something for a task at every other visit.
fn turn(host: Duration, finds: bool) -> Duration {
    let (ex, signal) = (without_poll_cap(), Signal::new());
    ex.spawn(wait_and_work(signal.clone(), us(0)));
    ex.spawn(compute(us(1)));
    last_turn(&ex, 1_000, host, |visit| {
        if finds && visit % 2 == 0 {
            signal.set();
        }
    })
}

#[test]
fn a_turn_lasts_20_times_as_long_as_an_empty_visit_or_64_times_if_idle() {
    for (host, usual, rare) in [(0, 10, 10), (1, 20, 64), (4, 20, 64), (50, 25, 25), (1_000, 200, 200)] {
        let (busy, idle) = (turn(us(host), true), turn(us(host), false));
        // To a reading of the clock.
        assert!(busy.abs_diff(us(usual)) <= us(3), "{busy:?} for a visit of {host} µs");
        assert!(idle.abs_diff(us(rare)) <= us(3), "{idle:?} for a visit of {host} µs");
    }
}

/// A task wakes many in each of its polls, so that they wait when the turn ends: that is nothing that the visit has found.
#[test]
fn visits_become_rarer_also_where_each_turn_leaves_many_woken_tasks() {
    let ex = without_poll_cap();
    ring_for(&ex, 4_000, us(15));
    let took = last_turn(&ex, 100, us(1), |_| {});
    assert_eq!(took, us(90), "the first multiple of 15 µs after 64, and the round of those that it woke");
}

/// A foreground of share 9 whose tasks, of which there are so many, wait for signals, beside a background that always has work.
fn foreground_and_background(tasks: usize, poll: Duration) -> (Executor, Vec<Signal>) {
    let ex = hosted();
    add(&ex, "foreground share=9\n background\n background -: 60*");
    let signals = signals(tasks);
    for signal in signals.clone() {
        queue(&ex, "foreground").spawn(wait_and_work(signal, poll));
    }
    (ex, signals)
}

/// Beside a queue that always has work, a queue whose task the visits of these turns wake: the polls of both in each turn.
fn polls_beside_background(is_woken: impl Fn(usize) -> bool, turns: usize) -> Vec<(u64, u64)> {
    let (ex, signals) = foreground_and_background(1, us(1));
    let mut run = pin!(ex.run_until(pending::<()>()));
    let polls = || (queue(&ex, "foreground").stats().polls, queue(&ex, "background").stats().polls);
    // Until a slice of the foreground is as long as it likes.
    (0..10).for_each(|_| go_on(&mut run));
    let one_turn = |turn| {
        if is_woken(turn) {
            signals[0].set();
        }
        let before = polls();
        go_on(&mut run);
        (polls().0 - before.0, polls().1 - before.1)
    };
    (0..turns).map(one_turn).collect()
}

/// When what a visit woke has drained, the host is visited before a poll of the background, but not twice in a row.
#[test]
fn a_visit_comes_before_the_background_every_other_time() {
    assert_eq!(polls_beside_background(|turn| turn == 0, 4), [(1, 0), (0, 1), (0, 1), (0, 1)]);
    let always = polls_beside_background(|_| true, 100);
    assert_eq!(always, [(1, 0), (1, 1)].repeat(50));
}

/// Each visit takes 300 µs and wakes a foreground whose polls take longer together than a turn: then the host is due when it
/// has drained, early visits or not, and the shares alone are left to see to the background.
#[test]
fn a_background_has_its_share_also_where_every_visit_wakes_the_foreground() {
    for (tasks, poll) in [(1, us(1)), (1, us(30)), (5, us(3)), (30, us(3)), (200, us(3))] {
        let (ex, signals) = foreground_and_background(tasks, poll);
        last_turn(&ex, 10_000, us(300), |_| signals.iter().for_each(Signal::set));
        let (foreground, background) = (busy(&ex, "foreground"), busy(&ex, "background"));
        // Two turns of it may be owed.
        let enough = background * 9 + 2 * 9 * us(1_000) >= foreground;
        assert!(enough, "{tasks} of {poll:?}: {foreground:?}, {background:?}");
    }
}

/// How many polls the turn has after a visit that woke so many tasks, whose polls take so long, beside one that yields.
fn polls_after_visit(woken: usize, poll: Duration) -> u64 {
    let (ex, signals) = (without_poll_cap(), signals(woken));
    for signal in signals.clone() {
        ex.spawn(wait_and_work(signal, poll));
    }
    ex.spawn(compute(us(5)));
    // Several, until the clock is read after each poll, as they take long enough.
    let mut run = pin!(ex.run_until(pending::<()>()));
    (0..5).for_each(|_| go_on(&mut run));
    signals.iter().for_each(Signal::set);
    let before = ex.stats().polls;
    go_on(&mut run);
    ex.stats().polls - before
}

#[test]
fn what_a_visit_woke_is_polled_before_the_next_where_that_takes_little() {
    assert_eq!(polls_after_visit(30, us(3)), 30);
    // 198 µs and one poll of the task that yields.
    assert_eq!(polls_after_visit(100, us(3)), 66);
    assert_eq!(polls_after_visit(30, us(100)), 1);
}

/// How many polls of 3 µs a turn has where the queue `busy` has 30 tasks that were woken, and `sleeps` one that waits.
fn polls_of_round(queues: &str, busy: &str, sleeps: &str) -> u64 {
    let (ex, signals) = (without_poll_cap(), signals(30));
    add(&ex, queues);
    for signal in signals.clone() {
        queue(&ex, busy).spawn(wait_and_work(signal, us(3)));
    }
    queue(&ex, sleeps).spawn(pending::<()>());
    queue(&ex, busy).spawn(compute(us(5)));
    let mut run = pin!(ex.run_until(pending::<()>()));
    (0..5).for_each(|_| go_on(&mut run));
    signals.iter().for_each(Signal::set);
    let before = ex.stats().polls;
    go_on(&mut run);
    ex.stats().polls - before
}

/// What a visit brings to a queue of a larger claim comes first: then there is no round, and the turn is worth 10 µs.
#[test]
fn a_round_is_of_the_queue_with_the_largest_claim() {
    let flat = "large share=9\n small";
    assert_eq!(polls_of_round(flat, "large", "small"), 30);
    assert_eq!(polls_of_round(flat, "small", "large"), 4);
    let by_request = "large request=100\n small request=900";
    assert_eq!(polls_of_round(by_request, "large", "small"), 30);
    assert_eq!(polls_of_round(by_request, "small", "large"), 4);
    let idle = "idle share=9 idle\n other";
    assert_eq!(polls_of_round(idle, "other", "idle"), 30);
    assert_eq!(polls_of_round(idle, "idle", "other"), 4);
    // Nested queues compare at their common parent.
    let nested = "a share=9\n b\n inner share=2 below=a\n other share=7 below=b";
    assert_eq!(polls_of_round(nested, "inner", "other"), 30);
    assert_eq!(polls_of_round(nested, "other", "inner"), 4);
    assert_eq!(polls_of_round(nested, "inner", "a"), 30);
    assert_eq!(polls_of_round(nested, "a", "inner"), 4);
}
