//! What the two services share: who runs their tasks, and the table that they print.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "the programs show what they found")]

use std::pin::Pin;
use std::time::Duration;

use clap::ValueEnum;
use clockworker::{Executor, Queue, QueueError};
use tokio::task::LocalSet;

/// Who runs the tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "lower")]
pub enum On {
    /// tokio's `LocalSet`
    LocalSet,
    /// A `clockworker::Executor` with queues
    Clockworker,
}

/// Where tasks go: to a queue, or to the `LocalSet`, which has none.
#[derive(Clone, Debug)]
pub enum Place {
    /// The `LocalSet` that runs the calling task.
    LocalSet,
    /// A queue of Clockworker.
    Queue(Queue),
}

/// A task's output, once it has ended. The task goes on where this is dropped.
pub type Handle<T> = Pin<Box<dyn Future<Output = T>>>;

impl Place {
    /// Spawns a task, which may not panic.
    pub fn spawn<T: 'static>(&self, task: impl Future<Output = T> + 'static) -> Handle<T> {
        match self {
            Self::LocalSet => {
                let handle = tokio::task::spawn_local(task);
                Box::pin(async { handle.await.expect("the task does not panic") })
            }
            Self::Queue(queue) => {
                let handle = queue.spawn(task);
                Box::pin(async { handle.await.expect("the task does not panic") })
            }
        }
    }
}

/// Runs a service on this thread, in a runtime of tokio's. It is given a place for each of the queues.
///
/// # Errors
///
/// If there can be no runtime, or no such queues.
pub fn run<T, const N: usize>(
    on: On,
    queues: impl FnOnce(&Executor) -> Result<[Queue; N], QueueError>,
    service: impl AsyncFnOnce([Place; N]) -> T,
) -> anyhow::Result<T> {
    let rt = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    Ok(match on {
        On::LocalSet => rt.block_on(LocalSet::new().run_until(service([const { Place::LocalSet }; N]))),
        On::Clockworker => {
            let ex = Executor::new();
            let places = queues(&ex)?.map(Place::Queue);
            rt.block_on(ex.run_until(service(places)))
        }
    })
}

/// Prints a line for each kind of event: how many there were, and the p50 and p99 of what they took.
pub fn print_times<const N: usize>(kinds: [(&str, Vec<Duration>); N]) {
    println!("{:32} {:>9} {:>12} {:>12}", "", "count", "p50", "p99");
    for (kind, mut times) in kinds {
        times.sort_unstable();
        let millis = |part: f64| {
            let time = times.get((times.len() as f64 * part) as usize);
            time.map_or("–".to_owned(), |time| format!("{:.3} ms", time.as_secs_f64() * 1e3))
        };
        println!("{kind:32} {:>9} {:>12} {:>12}", times.len(), millis(0.5), millis(0.99));
    }
}
