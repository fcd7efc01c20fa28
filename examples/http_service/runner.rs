//! Who runs the tasks: all that differs between the two executors.

use std::error::Error;
use std::time::Duration;

use clockworker::{Executor, Queue, QueueStats};
use tokio::runtime::Runtime;
use tokio::task::LocalSet;

use crate::options::{ExecutorKind, Options};

/// An executor of `!Send` tasks, to be run inside tokio.
pub(crate) enum Runner {
    LocalSet(LocalSet),
    Clockworker { executor: Executor, requests: Queue, compaction: Queue },
}

/// Where tasks go: to a queue, or to the `LocalSet`, which has none.
#[derive(Clone)]
pub(crate) enum Place {
    LocalSet,
    Queue(Queue),
}

impl Place {
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + 'static) {
        match self {
            Self::LocalSet => drop(tokio::task::spawn_local(task)),
            Self::Queue(queue) => drop(queue.spawn(task)),
        }
    }
}

impl Runner {
    pub(crate) fn new(options: &Options) -> Result<Self, Box<dyn Error>> {
        if options.executor == ExecutorKind::LocalSet {
            return Ok(Self::LocalSet(LocalSet::new()));
        }
        let builder = Executor::builder();
        let executor = match options.host_budget_us {
            Some(budget) => builder.host_budget(Duration::from_micros(budget)).build()?,
            None => builder.build()?,
        };
        // The small request lets the requests in soon when some have come, after the compaction's poll under way.
        let request = Duration::from_micros(options.request_us);
        let requests = executor.new_queue("requests").share(options.share).request(request).create()?;
        let compaction = executor.new_queue("compaction").share(1).create()?;
        Ok(Self::Clockworker { executor, requests, compaction })
    }

    /// Where requests go, and where compaction goes.
    pub(crate) fn places(&self) -> [Place; 2] {
        match self {
            Self::LocalSet(_) => [Place::LocalSet, Place::LocalSet],
            Self::Clockworker { requests, compaction, .. } => {
                [requests, compaction].map(|queue| Place::Queue(queue.clone()))
            }
        }
    }

    /// Runs `server` as a task, beside all those it spawns, until it is done.
    ///
    /// A task, because a `LocalSet` polls what is given to `run_until` each time it is polled itself, which would count
    /// against it here.
    pub(crate) fn run<T: 'static>(
        &self,
        rt: &Runtime,
        server: impl Future<Output = Result<T, std::io::Error>> + 'static,
    ) -> Result<T, Box<dyn Error>> {
        let done = match self {
            Self::LocalSet(local) => rt.block_on(local.run_until(local.spawn_local(server)))?,
            Self::Clockworker { executor, requests, .. } => {
                rt.block_on(executor.run_until(requests.spawn(server)))?
            }
        };
        Ok(done?)
    }

    /// What Clockworker knows about its queues. A `LocalSet` has no statistics.
    pub(crate) fn print_stats(&self) {
        let Self::Clockworker { executor, .. } = self else { return };
        let stats = executor.stats();
        println!("queue        share     busy   of all    polls   turns");
        for queue in stats.queues.iter().filter(|queue| queue.polls > 0) {
            print_queue(queue, stats.busy.as_secs_f64());
        }
        println!("preempted {} times, back to tokio {} times", stats.preemptions, stats.host_yields);
    }
}

fn print_queue(queue: &QueueStats, all: f64) {
    let percent = 100.0 * queue.busy.as_secs_f64() / all;
    let QueueStats { name, share, polls, slices, .. } = queue;
    println!("{name:12} {share:5} {:5} ms {percent:6.1} % {polls:8} {slices:7}", queue.busy.as_millis());
}
