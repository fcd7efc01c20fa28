//! What an executor does when there is nothing to do.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use futures::channel::oneshot;

use super::arm::{Arm, Need};
use super::measure::{Measure, Quantity, Row, rows_of};
use crate::arms::runner::{Job, Runner};
use crate::pinning::{Pinning, Side};
use crate::stopwatch::{Wait, now, wait_until};
use crate::workload::spin;

/// How many tasks are parked.
const TASKS: usize = 1_000;

/// How long an executor has to come to rest.
const REST: Duration = Duration::from_millis(20);

/// An idle second with 1,000 parked tasks.
#[derive(Debug)]
pub struct Idle {
    arms: Vec<Arm>,
    second: Duration,
    pinning: Pinning,
}

impl Idle {
    /// On these arms; a quick run's second is shorter.
    pub fn new(arms: Vec<Arm>, quick: bool, pinning: Pinning) -> Self {
        Idle { arms, second: Duration::from_millis(if quick { 20 } else { 1_000 }), pinning }
    }
}

impl Measure for Idle {
    fn quantities(&self) -> Vec<Quantity> {
        vec![
            Quantity { key: "host_polls", title: "An idle second: host polls" },
            Quantity { key: "cpu_us", title: "An idle second: CPU time in µs (with the wake that ends it)" },
        ]
    }

    fn shapes(&self) -> Vec<String> {
        vec!["1,000 parked tasks".to_owned()]
    }

    fn rows(&self) -> Vec<Row> {
        rows_of(&self.arms)
    }

    fn rounds(&self) -> u32 {
        3
    }

    fn can(&self, _shape: usize, row: usize) -> bool {
        self.arms[row].has(Need::RemoteWakes)
    }

    fn sample(&self, _shape: usize, row: usize) -> Vec<f64> {
        self.arms[row].run(&Second { length: self.second, pinning: self.pinning.clone() })
    }
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
