//! What is reported, and when, by a scripted clock and a scripted beacon.

use std::cell::Cell;
use std::panic::resume_unwind;

use super::*;
use crate::PollKind;
use clockworker::Id;

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// A watch without a lookout, which is told when to look.
struct Script {
    beacon: Arc<Beacon>,
    now: Cell<Duration>,
    watch: Watch,
    told: Arc<Mutex<Vec<Stall>>>,
}

impl Script {
    /// With a threshold of 5 ms, and three reports a second at most.
    fn new(first: impl Fn(&Stall) + Send + Sync + 'static) -> Self {
        let (beacon, told) = (Arc::<Beacon>::default(), Arc::<Mutex<Vec<Stall>>>::default());
        let tells = Arc::clone(&told);
        let hooks: Vec<Hook> =
            vec![Arc::new(first), Arc::new(move |stall: &Stall| tells.lock().unwrap().push(stall.clone()))];
        let whose = (Arc::clone(&beacon), Some(Arc::from("a thread")), Some(u32::MAX));
        let watch = Watch::new(whose, (ms(5), RateLimit::new(3, ms(1_000))), hooks);
        Self { beacon, now: Cell::new(ms(0)), watch, told }
    }

    /// A poll of so many milliseconds, at which the lookout looks each millisecond.
    fn poll(&self, task: u64, took: u64) {
        let lit = self.beacon.begin((PollKind::Task, 0), (Id::from_u64(task), Some(task + 1), None));
        for _ in 0..took {
            self.watch.look(|| self.now.get());
            self.now.set(self.now.get() + ms(1));
        }
        drop(lit);
    }

    /// The task, the group and the time of each report, and how many were kept back before it.
    fn told(&self) -> Vec<(u64, u64, Duration, u64)> {
        let told = self.told.lock().unwrap();
        let told = told.iter().map(|stall| {
            (
                stall.holder.task.map_or(0, Id::as_u64),
                stall.holder.group.unwrap_or(0),
                stall.so_far,
                stall.suppressed,
            )
        });
        told.collect()
    }

    fn stats(&self) -> [u64; 4] {
        let StallStats { seen, reported, suppressed, hook_panics, .. } = *self.watch.stats();
        [seen, reported, suppressed, hook_panics]
    }
}

#[test]
fn a_long_poll_is_reported_once_and_short_ones_are_not() {
    let script = Script::new(|_| {});
    script.poll(1, 50);
    (2..1_002).for_each(|task| script.poll(task, 1));
    script.poll(1_002, 5);
    script.poll(1_003, 6);
    assert_eq!(script.told(), [(1, 2, ms(5), 0), (1_003, 1_004, ms(5), 0)]);
    assert_eq!(script.stats(), [2, 2, 0, 0]);
    assert_eq!(script.watch.stats().longest, ms(49), "as of the last look");
    let told = script.told.lock().unwrap();
    let text = told[0].to_string();
    let expected = format!(
        "a poll has taken 5.0ms and goes on (threshold 5ms)\n  queue '', group 2, task 1, thread 'a thread'\n  \
         its stack: perf record -g -t 4294967295 -- sleep 1; or gdb -p {}, if it hangs\n",
        std::process::id()
    );
    assert_eq!((text, told[0].holder.kind), (expected, PollKind::Task));
}

#[test]
fn what_the_rate_limit_keeps_back_is_counted_and_told_with_the_next() {
    let script = Script::new(|_| {});
    (1..=10).for_each(|task| script.poll(task, 20));
    script.now.set(ms(2_000));
    (11..=12).for_each(|task| script.poll(task, 20));
    let told: Vec<(u64, u64)> = script.told().into_iter().map(|(task, _, _, kept)| (task, kept)).collect();
    assert_eq!(told, [(1, 0), (2, 0), (3, 0), (11, 7), (12, 0)]);
    assert_eq!(script.stats(), [12, 5, 7, 0]);
    let text = script.told.lock().unwrap()[3].to_string();
    assert!(text.contains("\n  stalls before it that the rate limit kept back: 7\n"), "{text}");
}

#[test]
fn a_hook_that_panics_keeps_neither_the_others_nor_itself_from_the_next() {
    let script = Script::new(|stall| resume_unwind(Box::new(stall.so_far)));
    script.poll(1, 20);
    script.poll(2, 20);
    assert_eq!(script.told().len(), 2);
    assert_eq!(script.stats(), [2, 2, 0, 2]);
}

#[test]
fn main_futures_and_drops_are_told_apart_from_polls() {
    let script = Script::new(|_| {});
    for kind in [PollKind::Main, PollKind::Drop] {
        let lit = script.beacon.begin((kind, 0), (None, None, None));
        for passed in 0..6 {
            script.watch.look(|| script.now.get() + ms(passed));
        }
        drop(lit);
    }
    let told = script.told.lock().unwrap();
    assert_eq!((told[0].holder.kind, told[0].holder.queue.as_deref()), (PollKind::Main, None));
    assert_eq!((told[1].holder.kind, told[1].holder.queue.as_deref()), (PollKind::Drop, Some("")));
}

#[test]
fn one_that_is_over_looks_no_more() {
    let script = Script::new(|_| {});
    script.watch.end();
    script.poll(1, 50);
    assert_eq!(script.stats(), [0; 4]);
}
