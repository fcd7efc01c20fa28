//! Histograms, against times that are known.

use std::future::{pending, poll_fn};
use std::mem::replace;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use clockworker::schedulers::{Las, Qlas, RunnableFifo, Scheduler};
use clockworker::{Executor, Group, yield_now};
use clockworker_observe::{
    Event, EventKind, GroupLatency, Histogram, LongTurn, Observation, Observe, Observed, PollKind, TaskDump,
};

use super::{latency_of, observing};
use crate::support::*;

const EXACT: Observation = Observation::new().latency().every_poll();

fn times(us: impl IntoIterator<Item = u64>) -> Histogram {
    let mut times = Histogram::new();
    us.into_iter().for_each(|us| times.record(Duration::from_micros(us)));
    times
}

/// The waits of the default queue's tasks, and how long their polls took.
fn assert_latency(ex: &Executor, waits: &[u64], polls: &[u64]) {
    let latency = latency_of(ex, "default");
    assert_eq!(latency.wait, times(waits.iter().copied()));
    assert_eq!(latency.poll, times(polls.iter().copied()));
}

/// A task that waits, and what wakes it.
fn waiting(ex: &Executor) -> Signal {
    let signal = Signal::new();
    let waited = signal.clone();
    ex.spawn(async move { waited.wait().await });
    signal
}

#[test]
fn waits_and_polls_are_as_scripted() {
    let ex = observing(EXACT);
    let tasks = [3, 50, 700].map(|took| ex.spawn(polls("", 1, us(took))));
    work(us(10));
    settle(&ex);
    assert_latency(&ex, &[10, 13, 63], &[3, 50, 700]);
    let latency = latency_of(&ex, "default");
    assert_eq!(latency.slice.sum(), us(753));
    let longest = latency.longest_poll.unwrap();
    assert_eq!((longest.took, longest.task), (us(700), tasks[2].id()));
}

#[test]
fn a_wake_counts_from_the_moment_in_the_poll_that_it_came() {
    let ex = observing(EXACT);
    let signal = waiting(&ex);
    settle(&ex);
    ex.spawn(async move {
        work(us(300));
        signal.set();
        work(us(5));
    });
    settle(&ex);
    // 0: both when they were spawned.
    assert_latency(&ex, &[0, 0, 5], &[0, 0, 305]);
}

#[test]
fn wakes_and_spawns_of_host_and_threads_count_from_then_on() {
    let ex = observing(EXACT);
    let [here, there] = [waiting(&ex), waiting(&ex)];
    settle(&ex);
    work(us(1_000));
    here.set();
    work(us(13));
    let handle = ex.handle();
    elsewhere(|| drop(handle.spawn(|| async {})));
    work(us(7));
    let waker = there.take_waker().unwrap();
    elsewhere(|| waker.wake());
    work(us(4));
    settle(&ex);
    assert_latency(&ex, &[0, 0, 4, 11, 24], &[0; 5]);
}

#[test]
fn a_task_that_yields_waits_from_the_end_of_its_poll() {
    let ex = observing(EXACT);
    ex.spawn(polls("", 2, us(100)));
    ex.spawn(polls("", 2, us(30)));
    settle(&ex);
    // First the 30 wait for the 100, then each for the other's next poll.
    assert_latency(&ex, &[0, 100, 30, 100], &[100, 100, 30, 30]);
}

#[test]
fn turns_and_visits_are_counted_and_idle_time_is_not() {
    let ex = observing(EXACT);
    ex.spawn(compute(us(1_000)));
    for _ in 0..3 {
        tick(&ex);
        work(us(15));
    }
    let latency = ex.observed().latency.unwrap();
    assert_eq!(latency.turn, times([1_000; 3]));
    assert_eq!(latency.visit, times([15; 2]), "before the first turn nothing was left over");
}

#[test]
fn a_turn_whose_beginning_was_not_heard_is_not_counted() {
    let ex = Rc::new(hosted());
    work(us(700));
    let inner = Rc::clone(&ex);
    ex.spawn(async move {
        work(us(30));
        inner.observe(EXACT).unwrap();
    });
    settle(&ex);
    assert_eq!(ex.observed().latency.unwrap().turn, times([]));
    ex.spawn(polls("", 1, us(40)));
    settle(&ex);
    assert_eq!(ex.observed().latency.unwrap().turn, times([40]));
}

/// The longest turn.
fn longest_turn(ex: &Executor) -> LongTurn {
    ex.observed().latency.unwrap().longest_turn.unwrap()
}

/// No task waits but for its own polls, and the host is not looked at for as long as one of those takes.
#[test]
fn the_longest_turn_says_who_held_the_thread_in_it() {
    let ex = observing(Observation::new().latency());
    let reports = ex.new_queue("reports").create().unwrap();
    let (line, task) = (line!(), reports.spawn(polls("", 3, us(20_000))));
    settle(&ex);
    assert_eq!(latency_of(&ex, "reports").wait.max(), us(0));
    let observed = ex.observed();
    assert_eq!(observed.latency.as_ref().unwrap().turn, times([20_000; 3]));
    let turn = longest_turn(&ex);
    let holder = turn.holder.clone().unwrap();
    assert_eq!((turn.took, turn.held, holder.kind), (us(20_000), us(20_000), PollKind::Task));
    assert_eq!((holder.queue.as_deref(), holder.task), (Some("reports"), Some(task.id())));
    assert_eq!(holder.spawned_at.map(|place| (place.file(), place.line())), Some((file!(), line)));
    assert_eq!(observed.since(&observed).latency.unwrap().longest_turn, None);

    let text = turn.to_string();
    assert!(text.starts_with("20.0ms, of that 20.0ms a poll of queue 'reports', task "), "{text}");
    let handle = ex.handle();
    let dumps = [ex.dump(), ex.block_on(TaskDump::ask(&handle)).unwrap()];
    for dump in dumps {
        assert_eq!(dump.longest_turn, Some(turn.clone()));
        assert!(dump.to_string().ends_with(&format!("\nlongest turn: {turn}\n")), "{dump}");
    }
}

/// The queue's polls were short so far: these two are timed together.
#[test]
fn where_polls_were_not_timed_each_the_queue_held_the_thread() {
    let ex = observing(Observation::new().latency());
    ex.spawn(polls("", 100, us(0)));
    settle(&ex);
    ex.spawn(polls("", 2, us(2_500)));
    settle(&ex);
    let turn = longest_turn(&ex);
    assert_eq!((turn.took, turn.held), (us(5_000), us(5_000)));
    assert_eq!(turn.to_string(), "5.0ms, of that 5.0ms polls of queue 'default'");
}

/// What the main future takes is no part of the slice after it, where the polls are timed together.
#[test]
fn polls_that_took_longer_than_the_main_future_held_the_thread() {
    let ex = observing(Observation::new().latency());
    ex.spawn(polls("", 100, us(0)));
    settle(&ex);
    ex.spawn(polls("", 2, us(2_500)));
    let mut worked = false;
    ex.block_on(poll_fn(|cx| {
        if replace(&mut worked, true) {
            return Poll::Ready(());
        }
        work(us(3_000));
        cx.waker().wake_by_ref();
        Poll::Pending
    }));
    assert_eq!(longest_turn(&ex).to_string(), "8.0ms, of that 5.0ms polls of queue 'default'");
}

#[test]
fn main_futures_and_drops_hold_the_thread_too() {
    let ex = observing(Observation::new().latency());
    let task = ex.spawn(hold(OnDrop::new(|| work(us(3_000)))));
    ex.block_on(async {
        clockworker::yield_now().await;
        work(us(2_000));
    });
    let turn = longest_turn(&ex);
    assert_eq!((turn.took, turn.held, turn.holder.unwrap().kind), (us(2_000), us(2_000), PollKind::Main));
    let id = task.id();
    task.abort();
    settle(&ex);
    let turn = longest_turn(&ex);
    let holder = turn.holder.unwrap();
    assert_eq!((turn.took, turn.held), (us(3_000), us(3_000)));
    assert_eq!((holder.kind, holder.task), (PollKind::Drop, Some(id)));
    tick(&ex);
    assert_eq!(longest_turn(&ex).took, us(3_000), "a shorter one changes nothing");
}

/// Where the kernel counts at all.
#[test]
fn the_time_without_a_processor_never_falls_and_differences_are_of_it() {
    let ex = observing(EXACT);
    let [first, second] = [(), ()].map(|()| ex.observed());
    let off_cpu = |observed: &Observed| observed.latency.as_ref().unwrap().off_cpu;
    let (before, after) = (off_cpu(&first), off_cpu(&second));
    assert!(before <= after && before.is_some() == after.is_some());
    let between = after.zip(before).map(|(after, before)| after - before);
    assert_eq!(off_cpu(&second.since(&first)), between);
}

#[test]
fn nothing_is_counted_unless_asked_for_and_it_may_be_asked_for_in_a_task() {
    let ex = Rc::new(observing(Observation::new()));
    ex.spawn(async {});
    settle(&ex);
    assert_eq!((ex.observed().queues[0].latency.clone(), ex.observed().latency), (None, None));
    let inner = Rc::clone(&ex);
    ex.spawn(async move {
        inner.observe(EXACT).unwrap();
        yield_now().await;
        work(us(40));
        yield_now().await;
        inner.observe(Observation::new()).unwrap();
    });
    ex.spawn(pending::<()>());
    settle(&ex);
    assert_eq!(ex.observed().queues[0].latency, None);
    ex.observe(EXACT).unwrap();
    assert_eq!(latency_of(&ex, "default").poll.max(), us(40), "what was counted stays");
}

#[test]
fn a_wait_that_began_before_is_not_counted() {
    let ex = observing(Observation::new());
    ex.spawn(async {});
    work(us(5));
    ex.observe(EXACT).unwrap();
    settle(&ex);
    assert_latency(&ex, &[], &[0]);
}

/// Polls of 100 ns, which are timed by lot: counted as often as there were, to within five standard deviations.
fn assert_sampled<S: Scheduler + 'static>(scheduler: S, deviations_of_one: f64) {
    const TASKS: usize = 50;
    const YIELDS: usize = 4_000;
    let ex = hosted_builder().scheduler(scheduler).build().unwrap();
    ex.observe(Observation::new().latency()).unwrap();
    for _ in 0..TASKS {
        ex.spawn(polls("", YIELDS, Duration::from_nanos(100)));
    }
    settle(&ex);
    let latency = latency_of(&ex, "default");
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
    let ex = observing(EXACT);
    let other = ex.new_queue("other").create().unwrap();
    other.spawn(polls("", 1, us(9)));
    settle(&ex);
    assert_eq!(latency_of(&ex, "other").poll, times([9]));
    assert_latency(&ex, &[], &[]);
}

/// How long the tasks of a group wait and run, if that is observed.
fn latency_in(ex: &Executor, group: &Group) -> Option<GroupLatency> {
    let observed = ex.observed();
    let queue = observed.queue(group.queue().stats().number)?;
    queue.group(group.stats().number).map(|group| *group.latency.clone())
}

#[test]
fn a_group_has_histograms_of_its_own_where_asked() {
    let ex = observing(Observation::new().latency_of_groups().every_poll());
    let queue = ex.default_queue();
    let groups = [1, 2].map(|key| queue.group(key));
    groups[0].spawn(polls("", 1, us(30)));
    groups[1].spawn(polls("", 1, us(500)));
    ex.block_on(ex.drained());
    let [first, second] = groups.each_ref().map(|group| latency_in(&ex, group).unwrap());
    assert_eq!((first.poll.count(), first.wait.max(), first.longest_poll.unwrap().took), (1, us(0), us(30)));
    // It waited for the first.
    assert!(second.wait.max() >= us(30) && second.wait.max() <= us(31), "{second:?}");
    assert_eq!(second.longest_poll.unwrap().took, us(500));
    let of_queue = latency_of(&ex, "default");
    assert_eq!((of_queue.poll.count(), of_queue.longest_poll), (2, second.longest_poll));
    assert_eq!(second.since(&second).poll.count(), 0);

    ex.observe(Observation::new().latency()).unwrap();
    groups[0].spawn(async {});
    ex.block_on(ex.drained());
    assert!(latency_in(&ex, &groups[0]).is_none(), "it is not asked for any more");
}

/// The second slice has nothing but the drop of an aborted future in it.
#[test]
fn a_slice_that_only_drops_takes_as_long_as_the_drops() {
    for dropped_alone in [true, false] {
        let ex = observing(Observation::new().latency().timeline(1 << 16).every_poll());
        let task = ex.spawn(hold(OnDrop::new(|| work(us(600)))));
        settle(&ex);
        work(us(10_000));
        task.abort();
        if !dropped_alone {
            ex.spawn(polls("", 1, us(30)));
        }
        settle(&ex);
        let slice = latency_of(&ex, "default").slice;
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
