//! Histograms, against times that are known.

use std::cell::RefCell;
use std::future::{pending, poll_fn};
use std::rc::Rc;
use std::task::{Poll, Waker};
use std::thread;
use std::time::Duration;

use clockworker::observe::{Event, EventKind, Histogram, Observation};
use clockworker::schedulers::{Las, Qlas, RunnableFifo, Scheduler};
use clockworker::{Executor, ExecutorStats, ManualClock, yield_now};
use clockworker_testing::driving::{settle, tick};

use super::support::{OnDrop, hold};
use super::{latency_of, observing, us};

const EXACT: Observation = Observation::new().latency().every_poll();

fn times(us: impl IntoIterator<Item = u64>) -> Histogram {
    let mut times = Histogram::new();
    us.into_iter().for_each(|us| times.record(Duration::from_micros(us)));
    times
}

#[test]
fn waits_and_polls_are_as_scripted() {
    let (ex, clock) = observing(EXACT);
    for took in [3, 50, 700] {
        let clock = clock.clone();
        ex.spawn(async move { clock.advance(us(took)) });
    }
    clock.advance(us(10));
    settle(&ex);
    let latency = latency_of(&ex, "default");
    assert_eq!(latency.wait, times([10, 13, 63]));
    assert_eq!(latency.poll, times([3, 50, 700]));
    assert_eq!(latency.slice.sum(), us(753));
}

#[test]
fn a_wake_counts_from_the_moment_in_the_poll_that_it_came() {
    let (ex, clock) = observing(EXACT);
    let waker: Rc<RefCell<Option<Waker>>> = Rc::default();
    let (held, mut polled) = (Rc::clone(&waker), false);
    ex.spawn(poll_fn(move |cx| {
        held.replace(Some(cx.waker().clone()));
        if std::mem::replace(&mut polled, true) { Poll::Ready(()) } else { Poll::Pending }
    }));
    settle(&ex);
    let passing = clock.clone();
    ex.spawn(async move {
        passing.advance(us(300));
        waker.take().unwrap().wake();
        passing.advance(us(5));
    });
    settle(&ex);
    // 0: both when they were spawned.
    assert_eq!(latency_of(&ex, "default").wait, times([0, 0, 5]));
}

#[test]
fn wakes_of_the_host_and_of_other_threads_count_from_then_on() {
    let (ex, clock) = observing(EXACT);
    let wakers: Rc<RefCell<Vec<Waker>>> = Rc::default();
    for _ in 0..2 {
        let (held, mut polled) = (Rc::clone(&wakers), false);
        ex.spawn(poll_fn(move |cx| {
            held.borrow_mut().push(cx.waker().clone());
            if std::mem::replace(&mut polled, true) { Poll::Ready(()) } else { Poll::Pending }
        }));
    }
    settle(&ex);
    let mut wakers = wakers.take();
    clock.advance(us(1_000));
    wakers.pop().unwrap().wake();
    clock.advance(us(20));
    let elsewhere = wakers.pop().unwrap();
    thread::spawn(move || elsewhere.wake()).join().unwrap();
    clock.advance(us(4));
    settle(&ex);
    assert_eq!(latency_of(&ex, "default").wait, times([0, 0, 4, 24]));
}

#[test]
fn a_task_from_another_thread_waits_from_its_spawn() {
    let (ex, clock) = observing(EXACT);
    let handle = ex.handle();
    drop(thread::spawn(move || handle.spawn(|| async {})).join().unwrap());
    clock.advance(us(7));
    settle(&ex);
    assert_eq!(latency_of(&ex, "default").wait, times([7]));
}

#[test]
fn a_task_that_yields_waits_from_the_end_of_its_poll() {
    let (ex, clock) = observing(EXACT);
    for took in [100, 30] {
        let clock = clock.clone();
        ex.spawn(async move {
            clock.advance(us(took));
            yield_now().await;
            clock.advance(us(took));
        });
    }
    settle(&ex);
    // First the 30 wait for the 100, then each for the other's next poll.
    assert_eq!(latency_of(&ex, "default").wait, times([0, 100, 30, 100]));
}

#[test]
fn the_longest_poll_has_its_task() {
    let (ex, clock) = observing(EXACT);
    let ids: Vec<_> = [5, 900, 20]
        .map(|took| {
            let clock = clock.clone();
            ex.spawn(async move { clock.advance(us(took)) }).id()
        })
        .into();
    settle(&ex);
    let longest = latency_of(&ex, "default").longest_poll.unwrap();
    assert_eq!((longest.took, longest.task), (us(900), ids[1]));
}

#[test]
fn turns_and_visits_are_counted_and_idle_time_is_not() {
    let (ex, clock) = observing(EXACT);
    let passing = clock.clone();
    ex.spawn(async move {
        loop {
            passing.advance(us(1_000));
            yield_now().await;
        }
    });
    for _ in 0..3 {
        tick(&ex);
        clock.advance(us(15));
    }
    let latency = ex.stats().latency.unwrap();
    assert_eq!(latency.turn, times([1_000; 3]));
    assert_eq!(latency.visit, times([15; 2]), "before the first turn nothing was left over");
}

/// Where the kernel counts at all.
#[test]
fn the_time_without_a_processor_never_falls_and_differences_are_of_it() {
    let (ex, _) = observing(EXACT);
    let [first, second] = [(), ()].map(|()| ex.stats());
    let off_cpu = |stats: &ExecutorStats| stats.latency.as_ref().unwrap().off_cpu;
    let (before, after) = (off_cpu(&first), off_cpu(&second));
    assert!(before <= after && before.is_some() == after.is_some());
    let between = after.zip(before).map(|(after, before)| after - before);
    assert_eq!(off_cpu(&second.since(&first)), between);
}

#[test]
fn nothing_is_counted_unless_asked_for_and_it_may_be_asked_for_in_a_task() {
    let (ex, clock) = observing(Observation::new());
    ex.spawn(async {});
    settle(&ex);
    assert_eq!((ex.stats().queues[0].latency.clone(), ex.stats().latency), (None, None));
    let ex = Rc::new(ex);
    let (inner, passing) = (Rc::clone(&ex), clock.clone());
    ex.spawn(async move {
        inner.observe(EXACT).unwrap();
        yield_now().await;
        passing.advance(us(40));
        yield_now().await;
        inner.observe(Observation::new()).unwrap();
    });
    ex.spawn(pending::<()>());
    settle(&ex);
    assert_eq!(ex.stats().queues[0].latency, None);
    ex.observe(EXACT).unwrap();
    assert_eq!(latency_of(&ex, "default").poll.max(), us(40), "what was counted stays");
}

#[test]
fn a_wait_that_began_before_is_not_counted() {
    let (ex, clock) = observing(Observation::new());
    ex.spawn(async {});
    clock.advance(us(5));
    ex.observe(EXACT).unwrap();
    settle(&ex);
    let latency = latency_of(&ex, "default");
    assert_eq!((latency.wait.count(), latency.poll.count()), (0, 1));
}

/// Polls of 100 ns, which are timed by lot: counted as often as there were, to within five standard deviations.
fn assert_sampled<S: Scheduler + 'static>(scheduler: S, deviations_of_one: f64) {
    const TASKS: u64 = 50;
    const YIELDS: u64 = 4_000;
    let clock = ManualClock::new();
    let ex = Executor::builder().clock(clock.clone()).scheduler(scheduler).build().unwrap();
    ex.observe(Observation::new().latency()).unwrap();
    for _ in 0..TASKS {
        let clock = clock.clone();
        ex.spawn(async move {
            for _ in 0..YIELDS {
                clock.advance(Duration::from_nanos(100));
                yield_now().await;
            }
        });
    }
    settle(&ex);
    let latency = latency_of(&ex, "default");
    // The last poll of each only ends it.
    let polls = (TASKS * YIELDS) as f64;
    let within = 5.0 * deviations_of_one * polls.sqrt();
    assert!((latency.poll.count() as f64 - polls).abs() < within + TASKS as f64, "{latency:?}");
    assert!(latency.poll.quantile(0.5) == Some(Duration::from_nanos(100)), "{latency:?}");
    assert_eq!(latency.poll.max(), Duration::from_nanos(100));
}

#[test]
fn short_polls_are_counted_as_often_as_there_are() {
    // The gaps between samples have the variance of 1 to 511, each as likely: 21,760. By 256 that is 85 for each poll.
    assert_sampled(RunnableFifo::new(), 9.3);
    // Of the lots that policies draw, see `lots.rs`: 2 * 14 / 3 polls.
    assert_sampled(Qlas::new(), 3.1);
    assert_sampled(Las::new(), 3.1);
}

#[test]
fn a_queue_of_its_own_has_figures_of_its_own() {
    let (ex, clock) = observing(EXACT);
    let other = ex.new_queue("other").create().unwrap();
    let passing = clock.clone();
    other.spawn(async move { passing.advance(us(9)) });
    settle(&ex);
    assert_eq!(latency_of(&ex, "other").poll, times([9]));
    assert!(latency_of(&ex, "default").poll.is_empty());
    assert_eq!(other.stats().latency.unwrap().poll, times([9]));
}

#[test]
fn a_group_has_histograms_of_its_own_where_asked() {
    let clock = ManualClock::new();
    let ex = Executor::builder().clock(clock.clone()).build().unwrap();
    ex.observe(Observation::new().latency_of_groups().every_poll()).unwrap();
    let queue = ex.default_queue();
    let groups = [1, 2].map(|key| queue.group(key));
    for (group, took) in groups.iter().zip([30, 500]) {
        let clock = clock.clone();
        group.spawn(async move { clock.advance(us(took)) });
    }
    ex.block_on(ex.drained());
    let of_group = |nth: usize| groups[nth].stats().latency.unwrap();
    let (first, second) = (of_group(0), of_group(1));
    assert_eq!((first.poll.count(), first.wait.max(), first.longest_poll.unwrap().took), (1, us(0), us(30)));
    // It waited for the first.
    assert!(second.wait.max() >= us(30) && second.wait.max() <= us(31), "{second:?}");
    assert_eq!(second.longest_poll.unwrap().took, us(500));
    let of_queue = ex.stats().queues[0].latency.clone().unwrap();
    assert_eq!((of_queue.poll.count(), of_queue.longest_poll), (2, second.longest_poll));
    assert_eq!(second.since(&second).poll.count(), 0);

    ex.observe(Observation::new().latency()).unwrap();
    groups[0].spawn(async {});
    ex.block_on(ex.drained());
    assert!(groups[0].stats().latency.is_none(), "it is not asked for any more");
}

/// The second slice has nothing but the drop of an aborted future in it.
#[test]
fn a_slice_that_only_drops_takes_as_long_as_the_drops() {
    for dropped_alone in [true, false] {
        let (ex, clock) = observing(Observation::new().latency().timeline(1 << 16).every_poll());
        let dropped = clock.clone();
        let task = ex.spawn(hold(OnDrop::new(move || dropped.advance(us(600)))));
        settle(&ex);
        clock.advance(us(10_000));
        task.abort();
        if !dropped_alone {
            let clock = clock.clone();
            ex.spawn(async move { clock.advance(us(30)) });
        }
        settle(&ex);
        let slice = ex.stats().queues[0].latency.as_ref().unwrap().slice.clone();
        assert!(slice.max() >= us(600) && slice.max() <= us(650), "{slice:?}");
        // What is polled after the drops begins after them.
        let polled = |event: &Event| match event.kind {
            EventKind::Polled { took, .. } => Some(took),
            _ => None,
        };
        let longest = ex.timeline().events.iter().filter_map(polled).max();
        assert_eq!(longest, Some(us(if dropped_alone { 0 } else { 30 })));
    }
}
