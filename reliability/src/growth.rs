//! Promise 10: nothing is left of a task that has ended, however it ended.

use std::future::pending;
use std::panic::resume_unwind;

use clap::Args;
use clockworker::schedulers::{ArrivalFifo, Las, Qlas, Serpt};
use clockworker::{Executor, JoinHandle, Queue, yield_now};

use crate::failure::Failure;
use crate::figure::{Bound, Figure};
use crate::memory::{self, Allocated, Resident};
use crate::progress;

/// Spawns, aborts and panics without end, and looks for what is left of it.
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// How many tasks.
    #[arg(long, value_name = "N", default_value_t = 10_000_000)]
    tasks: u64,
    /// 100,000 tasks: a second.
    #[arg(long, conflicts_with = "tasks")]
    quick: bool,
}

/// Tasks that are there at the same time.
const BATCH: u64 = 1_000;
/// Batches between two executors.
const BATCHES_OF_AN_EXECUTOR: u64 = 10;
/// Tasks for the bytes of each.
const MANY: usize = 1_000_000;
/// What resident memory may grow by in KiB: the allocator's own affairs.
const SLACK_KIB: f64 = 1_024.0;

/// Counts, then spawns a million at once.
pub fn measure(options: &Options) -> Result<Vec<Figure>, Failure> {
    let tasks = if options.quick { 100_000 } else { options.tasks };
    let batches = tasks.div_ceil(BATCH);
    let mut figures = cycles(batches)?;
    figures.extend(a_million()?);
    Ok(figures)
}

/// How a task of the cycle ends.
#[derive(Clone, Copy, Debug)]
enum End {
    Completes,
    Yields,
    AbortedAsleep,
    AbortedReady,
    Panics,
    PanicsWhenDropped,
    DroppedWithTheExecutor,
}

const ENDS: [End; 7] = [
    End::Completes,
    End::Yields,
    End::AbortedAsleep,
    End::AbortedReady,
    End::Panics,
    End::PanicsWhenDropped,
    End::DroppedWithTheExecutor,
];

fn cycles(batches: u64) -> Result<Vec<Figure>, Failure> {
    let warm_up = (batches / 20).max(BATCHES_OF_AN_EXECUTOR * 2);
    run(warm_up, &mut Resident::default())?;
    let before = Allocated::now()?;
    let mut resident = Resident::default();
    run(batches, &mut resident)?;
    let lost = Allocated::now()? - before;
    let mut figures = vec![
        Figure::told(10, "tasks that completed, were aborted or panicked", (batches * BATCH) as f64),
        Figure::held(10, "bytes lost after them", lost.bytes as f64, Bound::Exactly(0.0)),
        Figure::held(10, "allocations lost after them", lost.pieces as f64, Bound::Exactly(0.0)),
    ];
    if let Some(kib) = resident.growth_kib() {
        let what = "growth of resident memory, last third over first, KiB";
        figures.push(Figure::held(10, what, kib, Bound::AtMost(SLACK_KIB)));
    }
    Ok(figures)
}

/// Its bar is gone when it returns, and with it what that had allocated.
fn run(batches: u64, resident: &mut Resident) -> Result<(), Failure> {
    let bar = progress::bar(batches);
    let mut world = World::new()?;
    for batch in 0..batches {
        if batch % BATCHES_OF_AN_EXECUTOR == 0 {
            world = World::new()?;
        }
        world.cycle()?;
        if batch % (batches / 300).max(1) == 0 {
            bar.set_position(batch);
            resident.sample(batch as f64 / batches as f64);
        }
    }
    bar.finish_and_clear();
    Ok(())
}

struct World {
    ex: Executor,
    queues: Vec<Queue>,
}

impl World {
    fn new() -> Result<Self, Failure> {
        let ex = Executor::new();
        let wrong = |error: clockworker::QueueError| Failure::run(error.to_string());
        let queues = vec![
            ex.default_queue().clone(),
            ex.queue("arrival").scheduler(ArrivalFifo::new()).create().map_err(wrong)?,
            ex.queue("las").scheduler(Las::new()).create().map_err(wrong)?,
            ex.queue("qlas").scheduler(Qlas::new()).create().map_err(wrong)?,
            ex.queue("serpt").scheduler(Serpt::new()).create().map_err(wrong)?,
        ];
        Ok(World { ex, queues })
    }

    /// A batch of tasks, each ending in its way; but for those that go with the executor.
    fn cycle(&self) -> Result<(), Failure> {
        let before = self.ex.stats();
        let ends: Vec<End> = ENDS.into_iter().cycle().take(BATCH as usize).collect();
        let tasks: Vec<JoinHandle<()>> =
            ends.iter().enumerate().map(|(n, &end)| self.spawn(n, end)).collect();
        let each = || tasks.iter().zip(&ends);
        each().filter(|(_, end)| matches!(end, End::AbortedReady)).for_each(|(task, _)| task.abort());
        self.ex.block_on(yield_now());
        each()
            .filter(|(_, end)| matches!(end, End::AbortedAsleep | End::PanicsWhenDropped))
            .for_each(|(task, _)| task.abort());
        self.ex.block_on(async {
            while each().any(|(task, end)| !matches!(end, End::DroppedWithTheExecutor) && !task.is_finished())
            {
                yield_now().await;
            }
        });
        drop(tasks);
        let (after, stay) =
            (self.ex.stats(), ends.iter().filter(|end| matches!(end, End::DroppedWithTheExecutor)));
        let ended = |stats: &clockworker::ExecutorStats| stats.completed + stats.cancelled + stats.panicked;
        if ended(&after) - ended(&before) + stay.count() as u64 == BATCH {
            Ok(())
        } else {
            Err(Failure::run(format!("the books do not balance: {before:?}, then {after:?}")))
        }
    }

    fn spawn(&self, n: usize, end: End) -> JoinHandle<()> {
        let queue = &self.queues[n % self.queues.len()];
        match end {
            End::Completes if n.is_multiple_of(2) => self.ex.handle().spawn_on(queue.name(), || async {}),
            End::Completes => queue.group(n as u64 % 5).spawn(async {}),
            End::Yields => queue.spawn(async {
                yield_now().await;
                yield_now().await;
            }),
            End::AbortedAsleep | End::AbortedReady | End::DroppedWithTheExecutor => queue.spawn(pending()),
            End::Panics => queue.spawn(async { resume_unwind(Box::new("meant")) }),
            End::PanicsWhenDropped => queue.spawn(async {
                let _guard = PanicsWhenDropped;
                pending().await
            }),
        }
    }
}

struct PanicsWhenDropped;

impl Drop for PanicsWhenDropped {
    fn drop(&mut self) {
        // Past the hook, which would print it.
        resume_unwind(Box::new("meant"));
    }
}

/// What a million tasks take that wait for something.
fn a_million() -> Result<Vec<Figure>, Failure> {
    let (before, resident) = (Allocated::now()?, memory::resident());
    let ex = Executor::new();
    (0..MANY).for_each(|_| drop(ex.spawn(pending::<()>())));
    ex.block_on(async {
        while ex.stats().polls < MANY as u64 {
            yield_now().await;
        }
    });
    let (taken, resident) = (Allocated::now()? - before, memory::resident().zip(resident));
    drop(ex);
    let lost = Allocated::now()? - before;
    let each = |bytes: f64| bytes / MANY as f64;
    let mut figures = vec![
        Figure::told(10, "bytes allocated per task at 1,000,000 tasks", each(taken.bytes as f64)),
        Figure::held(10, "bytes lost after them", lost.bytes as f64, Bound::Exactly(0.0)),
    ];
    if let Some((now, before)) = resident {
        let bytes = each(now as f64 - before as f64);
        figures.push(Figure::told(10, "bytes resident per task at 1,000,000 tasks", bytes));
    }
    Ok(figures)
}
