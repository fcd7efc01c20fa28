//! The counters of a trace: how many tasks are ready, and what each queue is owed.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::panic::Location;
use std::rc::Rc;
use std::task::{Poll, Waker};
use std::time::Duration;

use clockworker::observe::{
    Event, EventKind, Observation, PollOutcome, ReadyReason, SliceEndReason, TaskRef, Timeline, TimelineQueue,
};
use clockworker::{Executor, ManualClock, yield_now};
use clockworker_timeline::write_perfetto;
use proptest::prelude::*;
use serde_json::Value;

fn us(us: u64) -> Duration {
    Duration::from_micros(us)
}

/// What a counter was from when on, in nanoseconds.
fn counter(timeline: &Timeline, name: &str) -> Vec<(u64, i64)> {
    let mut json = Vec::new();
    write_perfetto(timeline, &mut json).unwrap();
    let trace: Value = serde_json::from_slice(&json).unwrap();
    let events = trace["traceEvents"].as_array().unwrap().iter();
    let unit = if name.starts_with("lag") { "ns" } else { "tasks" };
    let of_name = events.filter(|event| event["ph"] == "C" && event["name"] == name);
    let ns = |ts: &Value| (ts.as_f64().unwrap() * 1_000.0).round() as u64;
    of_name.map(|event| (ns(&event["ts"]), event["args"][unit].as_i64().unwrap())).collect()
}

/// The same in whole microseconds.
fn counter_us(timeline: &Timeline, name: &str) -> Vec<(u64, i64)> {
    counter(timeline, name).into_iter().map(|(at, number)| (at / 1_000, number)).collect()
}

/// A timeline made up: `heavy` has share 3, `light` 1, both a request of 100 µs.
struct Script {
    events: Vec<Event>,
}

const HEAVY: u32 = 0;
const LIGHT: u32 = 1;

impl Script {
    fn new() -> Self {
        Self { events: Vec::new() }
    }

    fn push(mut self, at: u64, kind: EventKind) -> Self {
        self.events.push(Event { at: us(at), kind });
        self
    }

    fn spawned(self, at: u64, queue: u32, slot: u32) -> Self {
        let task = TaskRef { queue, slot, generation: 1 };
        self.push(at, EventKind::Spawned { task, location: Location::caller(), group: None })
    }

    fn ready(self, at: u64, queue: u32, slot: u32) -> Self {
        let task = TaskRef { queue, slot, generation: 1 };
        self.push(at, EventKind::Ready { task, reason: ReadyReason::Local })
    }

    fn began(self, at: u64, queue: u32, ready: u32) -> Self {
        self.push(at, EventKind::SliceBegan { queue, ready })
    }

    fn polled(self, at: u64, (queue, slot): (u32, u32), took: u64, outcome: PollOutcome) -> Self {
        let task = TaskRef { queue, slot, generation: 1 };
        self.push(at, EventKind::Polled { task, took: us(took), measured_with: 1, outcome })
    }

    fn ended(self, at: u64, queue: u32, reason: SliceEndReason) -> Self {
        self.push(at, EventKind::SliceEnded { queue, reason })
    }

    fn timeline(self) -> Timeline {
        let queues = [(HEAVY, "heavy", 3), (LIGHT, "light", 1)];
        let queues = queues.map(|(index, name, share)| TimelineQueue::new(index, name, share, us(100)));
        Timeline::new(queues.to_vec(), self.events)
    }
}

/// Both queues have work; the light one gets more than its part and sleeps.
fn one_turn_each() -> Script {
    Script::new()
        .spawned(0, HEAVY, 0)
        .spawned(0, LIGHT, 0)
        .began(0, HEAVY, 1)
        .polled(0, (HEAVY, 0), 60, PollOutcome::Yielded)
        .ended(60, HEAVY, SliceEndReason::Spent)
        .began(60, LIGHT, 1)
        .polled(60, (LIGHT, 0), 40, PollOutcome::Pending)
        .ended(100, LIGHT, SliceEndReason::Drained)
        .began(100, HEAVY, 1)
}

#[test]
fn a_lag_is_what_a_queue_is_owed_by_its_share() {
    let timeline = one_turn_each()
        .polled(100, (HEAVY, 0), 45, PollOutcome::Pending)
        .ended(145, HEAVY, SliceEndReason::Drained)
        .timeline();
    // Of 60 µs the light queue is owed 15, of 100 it is owed 25 and has had 40. Then nobody has work: all is forgiven.
    assert_eq!(counter_us(&timeline, "lag: heavy"), [(0, 0), (60, -15_000), (100, 15_000), (145, 0)]);
    assert_eq!(counter_us(&timeline, "lag: light"), [(0, 0), (60, 15_000), (100, -15_000), (145, 0)]);
}

#[test]
fn a_debt_survives_a_sleep_and_is_less_by_what_others_got() {
    let timeline = one_turn_each()
        .polled(100, (HEAVY, 0), 45, PollOutcome::Yielded)
        .ready(120, LIGHT, 0)
        .ended(145, HEAVY, SliceEndReason::Spent)
        .timeline();
    // Asleep at v = 40 µs, while V goes from 25 to 35: it wakes after the poll, and V to the mean of 3·35 and 40.
    assert_eq!(counter_us(&timeline, "lag: light").last(), Some(&(145, -3_750)));
    assert_eq!(counter_us(&timeline, "lag: heavy").last(), Some(&(145, 3_750)));
}

#[test]
fn a_slice_that_the_timeline_does_not_end_is_charged_up_to_its_last_poll() {
    let timeline = one_turn_each().polled(100, (HEAVY, 0), 4, PollOutcome::Yielded).timeline();
    assert_eq!(counter_us(&timeline, "lag: heavy").last(), Some(&(104, 11_000)));
}

#[test]
fn a_queue_that_is_constrained_or_gone_has_no_lag() {
    let mut timeline = one_turn_each().timeline();
    timeline.queues[1].is_constrained = true;
    assert!(counter(&timeline, "lag: light").is_empty());
    assert_eq!(counter_us(&timeline, "lag: heavy"), [(0, 0)], "alone among those that share");
    timeline.queues.remove(1);
    assert!(counter(&timeline, "lag: gone (1)").is_empty());
    assert!(!counter(&timeline, "ready: gone (1)").is_empty());
}

#[test]
fn the_executor_says_which_queues_are_constrained() {
    let ex = Executor::new();
    let parent = ex.new_queue("parent").create().unwrap();
    parent.new_queue("child").create().unwrap();
    ex.new_queue("idle").idle().create().unwrap();
    ex.new_queue("free").create().unwrap();
    let queues = ex.timeline().queues.into_iter();
    let free: Vec<String> = queues.filter(|queue| !queue.is_constrained).map(|queue| queue.name).collect();
    assert_eq!(free, ["default", "free"]);
}

#[test]
fn ready_tasks_are_counted_from_wake_to_poll() {
    let timeline = Script::new()
        .spawned(0, HEAVY, 0)
        .spawned(1, HEAVY, 1)
        .began(5, HEAVY, 2)
        .polled(5, (HEAVY, 0), 10, PollOutcome::Yielded)
        .spawned(7, HEAVY, 2)
        .polled(15, (HEAVY, 1), 10, PollOutcome::Pending)
        .polled(30, (HEAVY, 2), 10, PollOutcome::Finished)
        .polled(40, (HEAVY, 0), 2, PollOutcome::Yielded)
        .timeline();
    let expected = [(0, 1), (1, 2), (5, 1), (7, 2), (30, 1), (40, 0), (42, 1)];
    assert_eq!(counter_us(&timeline, "ready: heavy"), expected, "at 15 one yields and one is polled");
}

#[test]
fn tasks_that_were_ready_before_count_from_the_beginning_and_aborted_ones_no_longer() {
    let timeline = Script::new()
        .spawned(2, HEAVY, 7)
        .began(4, HEAVY, 3)
        .polled(4, (HEAVY, 5), 1, PollOutcome::Pending)
        .ended(5, HEAVY, SliceEndReason::HostDue)
        // One was aborted.
        .began(9, HEAVY, 1)
        .timeline();
    assert_eq!(counter_us(&timeline, "ready: heavy"), [(2, 3), (4, 2), (9, 1)]);
}

/// Tasks of two queues, each with work for all of `polls` polls of so many microseconds.
fn run(in_default: (u64, u32), in_other: (u64, u32), share: u32) -> (Executor, Timeline) {
    let clock = ManualClock::new();
    let ex = Executor::builder().clock(clock.clone()).build().unwrap();
    let other = ex.new_queue("other").share(share).create().unwrap();
    ex.observe(Observation::new().timeline(1 << 18).every_poll()).unwrap();
    let task = |(took, polls): (u64, u32)| {
        let clock = clock.clone();
        async move {
            for _ in 0..polls {
                clock.advance(us(took));
                yield_now().await;
            }
        }
    };
    ex.spawn(task(in_default));
    other.spawn(task(in_other));
    ex.block_on(ex.drained());
    let timeline = ex.timeline();
    (ex, timeline)
}

/// When each slice ended, of which queue, and how long it was.
fn slices(timeline: &Timeline) -> Vec<(Duration, u32, Duration)> {
    let mut began = Duration::ZERO;
    let slices = timeline.events.iter().filter_map(|event| match event.kind {
        EventKind::SliceBegan { .. } => {
            began = event.at;
            None
        }
        EventKind::SliceEnded { queue, .. } => Some((event.at, queue, event.at - began)),
        _ => None,
    });
    slices.collect()
}

/// Tasks in three queues that pass wakes round: each works, wakes the next, and waits until it is woken.
fn run_ring(tasks: &[(usize, u64)], rounds: u32) -> Timeline {
    let clock = ManualClock::new();
    let ex = Executor::builder().clock(clock.clone()).build().unwrap();
    let queues = [1, 2, 5].map(|share| ex.new_queue(&share.to_string()).share(share).create().unwrap());
    ex.observe(Observation::new().timeline(1 << 18).every_poll()).unwrap();
    let notes: Vec<Rc<Note>> = tasks.iter().map(|_| Rc::default()).collect();
    for (nth, &(queue, took)) in tasks.iter().enumerate() {
        let (clock, mine, next) = (clock.clone(), notes[nth].clone(), notes[(nth + 1) % tasks.len()].clone());
        queues[queue].spawn(async move {
            for round in 0..rounds {
                clock.advance(us(took));
                next.wake();
                if round % 3 == 2 {
                    yield_now().await;
                }
                clock.advance(us(took / 2));
                mine.woken().await;
            }
        });
    }
    ex.block_on(ex.drained());
    ex.timeline()
}

/// A wake that is kept until it is asked for.
#[derive(Default)]
struct Note {
    wakes: Cell<u32>,
    waiter: RefCell<Option<Waker>>,
}

impl Note {
    fn wake(&self) {
        self.wakes.set(self.wakes.get() + 1);
        self.waiter.take().into_iter().for_each(Waker::wake);
    }

    async fn woken(&self) {
        poll_fn(|cx| {
            self.waiter.replace(Some(cx.waker().clone()));
            if self.wakes.get() == 0 {
                return Poll::Pending;
            }
            self.wakes.set(self.wakes.get() - 1);
            Poll::Ready(())
        })
        .await;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn also_where_queues_sleep_and_wake_the_executor_picks_who_is_owed_something(
        tasks in prop::collection::vec((0_usize..3, 1_u64..400), 2..9),
        rounds in 1_u32..30,
    ) {
        let timeline = run_ring(&tasks, rounds);
        let counters = |kind: &str| ["1", "2", "5"].map(|name| counter(&timeline, &format!("{kind}: {name}")));
        let (lags, ready) = (counters("lag"), counters("ready"));
        let at = |points: &[(u64, i64)], now: u64| {
            points.iter().rev().find(|point| point.0 <= now).map_or(0, |point| point.1)
        };
        for event in &timeline.events {
            let EventKind::SliceBegan { queue, .. } = event.kind else { continue };
            let now = event.at.as_nanos() as u64;
            // Beside creditors that sleep, the mean of those awake is enough.
            let sleeps_with_credit = |of: &usize| at(&ready[*of], now) == 0 && at(&lags[*of], now) > 0;
            let picked = queue as usize - 1;
            if (0..3).filter(|&of| of != picked).all(|of| !sleeps_with_credit(&of)) {
                prop_assert!(at(&lags[picked], now) >= 0, "{queue} at {now}: {lags:?}");
            }
        }
    }

    #[test]
    fn while_both_have_work_lags_are_parts_less_service(
        mine in (1_u64..300, 20_u32..60),
        others in (1_u64..300, 20_u32..60),
        share in 1_u32..10,
    ) {
        let (ex, timeline) = run(mine, others, share);
        let stats = ex.stats().queues;
        let lags = ["lag: default", "lag: other"].map(|name| counter(&timeline, name));
        let mut got = [0_u64; 2];
        let mut slices = slices(&timeline).into_iter().peekable();
        while let Some((at, queue, took)) = slices.next() {
            let at = at.as_nanos() as u64;
            got[queue as usize] += took.as_nanos() as u64;
            if (0..2).any(|of| got[of] == stats[of].busy.as_nanos() as u64) {
                // One of them has no work any more.
                break;
            }
            // Both woke up at zero, in the same moment.
            let all = got[0] + got[1];
            let shares = [1, u64::from(share)];
            for (of, lag) in lags.iter().enumerate() {
                let owed = (all * shares[of] / (shares[0] + shares[1])) as i64 - got[of] as i64;
                let step = if queue as usize == of { 1 } else { (stats[of].request.as_nanos() / 8) as i64 + 1 };
                let shown = lag.iter().rev().find(|point| point.0 <= at).unwrap().1;
                prop_assert!((shown - owed).abs() <= step, "{of} at {at}: {shown} for {owed}");
                // The executor picks who is owed something, by its own account.
                let is_next = slices.peek().is_some_and(|next| next.1 as usize == of);
                prop_assert!(!is_next || shown >= -step, "{of} is next at {at}, and owes {shown}");
            }
        }
    }

    #[test]
    fn all_tasks_but_the_one_polled_are_ready_until_they_end_one_after_the_other(
        polls in 1_u32..40,
        tasks in 1_usize..20,
    ) {
        let clock = ManualClock::new();
        let ex = Executor::builder().clock(clock.clone()).build().unwrap();
        ex.observe(Observation::new().timeline(1 << 18).every_poll()).unwrap();
        for _ in 0..tasks {
            let clock = clock.clone();
            ex.spawn(async move {
                for _ in 0..polls {
                    clock.advance(us(7));
                    yield_now().await;
                }
                clock.advance(us(7));
            });
        }
        ex.block_on(ex.drained());
        let (tasks, polls) = (tasks as u64, u64::from(polls));
        let mut expected = vec![(0, tasks as i64 - 1)];
        expected.extend((1..tasks).map(|ended| (7 * (polls * tasks + ended), (tasks - 1 - ended) as i64)));
        prop_assert_eq!(counter_us(&ex.timeline(), "ready: default"), expected);
    }
}
