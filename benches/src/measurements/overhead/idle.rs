//! What an executor does when there is nothing to do.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use futures::channel::oneshot;

use super::arm::Need;
use super::measure::{Measure, Topic};
use super::options::Options;
use super::section::Section;
use crate::arms::runner::{Job, Runner};
use crate::harness::pinning::{Pinning, Side};
use crate::stopwatch::{Wait, now, wait_until};
use crate::workload::spin;

/// How many tasks are parked.
const TASKS: usize = 1_000;

/// How long an executor has to come to rest.
const REST: Duration = Duration::from_millis(20);

/// An idle second with 1,000 parked tasks; a quick run's second is shorter.
pub(super) fn measure(options: &Options, pinning: &Pinning) -> Measure {
    let topic = Topic::new(
        Section::Idle,
        &[
            ("host_polls", "An idle second: host polls"),
            ("cpu_us", "An idle second: CPU time in µs (with the wake that ends it)"),
        ],
    );
    let length = Duration::from_millis(if options.common.quick { 20 } else { 1_000 });
    let second = Second { length, pinning: pinning.clone() };
    let columns = [("1,000 parked tasks", Some(Need::RemoteWakes))];
    Measure::of_executors(&topic, options.arms(), columns, move |_, arm| arm.run(&second)).with_rounds(3)
}

struct Second {
    length: Duration,
    pinning: Pinning,
}

impl Job for Second {
    fn run<R: Runner>(&self, runner: R) -> Vec<f64> {
        let (begin, begun) = oneshot::channel();
        let (end, ended) = oneshot::channel();
        let watcher = self.watcher(runner.host_polls(), begin, end);
        let cpu_us = runner.block_on(async {
            (0..TASKS).for_each(|task| runner.spawn_detached(task, pending()));
            let _ = begun.await;
            let before = spin::cpu_time();
            let _ = ended.await;
            (spin::cpu_time() - before).as_secs_f64() * 1e6
        });
        vec![watcher.join().expect("the watcher does not panic"), cpu_us]
    }
}

impl Second {
    /// Looks at the host's polls at the beginning and the end of the second, with the executor at rest.
    fn watcher(
        &self,
        polls: Option<Arc<AtomicU64>>,
        begin: oneshot::Sender<()>,
        end: oneshot::Sender<()>,
    ) -> thread::JoinHandle<f64> {
        let (length, pinning) = (self.length, self.pinning.clone());
        thread::spawn(move || {
            pinning.pin(Side::Load);
            let count = || polls.as_ref().map_or(f64::NAN, |polls| polls.load(Ordering::Relaxed) as f64);
            wait_until(now() + REST, Wait::Sleep);
            let _ = begin.send(());
            wait_until(now() + REST, Wait::Sleep);
            let before = count();
            wait_until(now() + length, Wait::Sleep);
            let polls = count() - before;
            let _ = end.send(());
            polls
        })
    }
}
