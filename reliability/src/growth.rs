//! Promise 10: nothing is left of a task that has ended, however it ended.

use std::future::pending;

use anyhow::ensure;
use clap::Args;
use clockworker::{Executor, ExecutorStats, JoinHandle, Queue, QueueError, yield_now};
use clockworker_testing::memory::{Allocated, Resident, resident};
use clockworker_testing::panics::{PanicsWhenDropped, panic_as_meant};
use clockworker_testing::policy::Policy;

use crate::cases::bar;
use crate::figure::{Figure, at_most, none, told};

#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    /// How many tasks.
    #[arg(long, value_name = "N", default_value_t = 10_000_000)]
    tasks: u64,
    /// 100,000 tasks: a second.
    #[arg(long, conflicts_with = "tasks")]
    quick: bool,
}

/// Tasks that are there at the same time.
const BATCH: u64 = 1_000;
const BATCHES_OF_AN_EXECUTOR: u64 = 10;
/// Tasks for the bytes of each.
const MANY: usize = 1_000_000;
/// What resident memory may grow by in KiB: the allocator's own affairs.
const SLACK_KIB: f64 = 1_024.0;

pub(crate) fn measure(options: &Options) -> anyhow::Result<Vec<Figure>> {
    let tasks = if options.quick { 100_000 } else { options.tasks };
    let mut figures = cycles(tasks.div_ceil(BATCH))?;
    figures.extend(a_million());
    Ok(figures)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    ByItself,
    AbortedReady,
    AbortedAsleep,
    WithTheExecutor,
}

fn cycles(batches: u64) -> anyhow::Result<Vec<Figure>> {
    let warm_up = (batches / 20).max(BATCHES_OF_AN_EXECUTOR * 2);
    run(warm_up, &mut Resident::default())?;
    let before = Allocated::now();
    let mut resident = Resident::default();
    run(batches, &mut resident)?;
    let lost = Allocated::now() - before;
    let mut figures = vec![
        told(10, "tasks that completed, were aborted or panicked", batches * BATCH),
        none(10, "bytes lost after them", lost.bytes),
        none(10, "allocations lost after them", lost.pieces),
    ];
    figures.extend(growth(resident, SLACK_KIB));
    Ok(figures)
}

/// What resident memory has grown by, where that is known.
pub(crate) fn growth(resident: Resident, slack_kib: f64) -> Option<Figure> {
    let what = "growth of resident memory, last third over first, KiB";
    Some(at_most(10, what, resident.growth_kib()?, slack_kib))
}

/// Its bar is gone when it returns, and with it what that had allocated.
fn run(batches: u64, resident: &mut Resident) -> anyhow::Result<()> {
    let bar = bar(batches);
    let mut setup = Setup::new()?;
    for batch in 0..batches {
        if batch % BATCHES_OF_AN_EXECUTOR == 0 {
            setup = Setup::new()?;
        }
        setup.cycle()?;
        if batch % (batches / 300).max(1) == 0 {
            bar.set_position(batch);
            resident.sample(batch as f64 / batches as f64);
        }
    }
    Ok(())
}

struct Setup {
    ex: Executor,
    queues: Vec<Queue>,
}

impl Setup {
    fn new() -> Result<Self, QueueError> {
        let ex = Executor::new();
        let create = |(n, policy): (usize, &Policy)| policy.create(ex.new_queue(&n.to_string()));
        let queues = Policy::ALL.iter().enumerate().map(create).collect::<Result<_, _>>()?;
        Ok(Setup { ex, queues })
    }

    /// A batch of tasks, each ending in its way; but for those that go with the executor.
    fn cycle(&self) -> anyhow::Result<()> {
        let before = self.ex.stats();
        let mut tasks: Vec<_> = (0..BATCH as usize).map(|n| self.spawn(n)).collect();
        let abort = |tasks: &[(Ended, JoinHandle<()>)], which: Ended| {
            tasks.iter().filter(|(ended, _)| *ended == which).for_each(|(_, task)| task.abort());
        };
        abort(&tasks, Ended::AbortedReady);
        self.ex.block_on(yield_now());
        abort(&tasks, Ended::AbortedAsleep);
        // The others stay until the executor is dropped.
        tasks.retain(|(ended, _)| *ended != Ended::WithTheExecutor);
        self.ex.block_on(async {
            while !tasks.iter().all(|(_, task)| task.is_finished()) {
                yield_now().await;
            }
        });
        let after = self.ex.stats();
        let ended = |stats: &ExecutorStats| stats.completed + stats.cancelled + stats.panicked;
        let balances = ended(&after) - ended(&before) == tasks.len() as u64;
        ensure!(balances, "the books do not balance: {before:?}, then {after:?}");
        Ok(())
    }

    fn spawn(&self, n: usize) -> (Ended, JoinHandle<()>) {
        let queue = &self.queues[n % self.queues.len()];
        match n % 7 {
            0 if n.is_multiple_of(2) => {
                (Ended::ByItself, self.ex.handle().spawn_on(&queue.name(), || async {}))
            }
            0 => (Ended::ByItself, queue.group(n as u64 % 5).spawn(async {})),
            1 => {
                let yields = async {
                    yield_now().await;
                    yield_now().await;
                };
                (Ended::ByItself, queue.spawn(yields))
            }
            2 => (Ended::ByItself, queue.spawn(async { panic_as_meant() })),
            3 => (Ended::AbortedReady, queue.spawn(pending())),
            4 => (Ended::AbortedAsleep, queue.spawn(pending())),
            5 => {
                let panics_when_aborted = async {
                    let _guard = PanicsWhenDropped;
                    pending().await
                };
                (Ended::AbortedAsleep, queue.spawn(panics_when_aborted))
            }
            _ => (Ended::WithTheExecutor, queue.spawn(pending())),
        }
    }
}

/// What a million tasks take that wait for something.
fn a_million() -> Vec<Figure> {
    let (before, resident_before) = (Allocated::now(), resident());
    let ex = Executor::new();
    (0..MANY).for_each(|_| drop(ex.spawn(pending::<()>())));
    ex.block_on(async {
        while ex.stats().polls < MANY as u64 {
            yield_now().await;
        }
    });
    let (taken, resident_after) = (Allocated::now() - before, resident());
    drop(ex);
    let lost = Allocated::now() - before;
    let each = |bytes: f64| bytes / MANY as f64;
    let mut figures = vec![
        told(10, "bytes allocated per task at 1,000,000 tasks", each(taken.bytes as f64)),
        none(10, "bytes lost after them", lost.bytes),
    ];
    if let Some((now, before)) = resident_after.zip(resident_before) {
        let bytes = each(now as f64 - before as f64);
        figures.push(told(10, "bytes resident per task at 1,000,000 tasks", bytes));
    }
    figures
}
