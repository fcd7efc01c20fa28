//! Promise 8: an executor whose tasks all wait costs nothing.

use std::rc::Rc;
use std::thread;
use std::time::Duration;

use clap::Args;
use clockworker::{Executor, QueueError};
use rustix::time::{ClockId, clock_gettime};
use tokio::sync::oneshot::{self, Receiver};

use crate::failure::Failure;
use crate::figure::{Bound, Figure};
use crate::host::Host;

/// CPU time that going to sleep and waking up once may take, in microseconds.
const ONCE: f64 = 1_000.0;

/// Waits beside tasks that wait too, and counts polls and CPU time.
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// How long to wait on each host, in milliseconds.
    #[arg(long, value_name = "MS", default_value_t = 10_000)]
    wait: u64,
    /// Half a second on each host.
    #[arg(long, conflicts_with = "wait")]
    quick: bool,
    /// How many tasks wait.
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    tasks: usize,
}

impl Options {
    /// The quick form.
    pub fn quick() -> Self {
        Options { wait: 0, quick: true, tasks: 1_000 }
    }
}

/// What a wait took.
#[derive(Clone, Copy, Debug)]
struct Cost {
    /// By the host, of the executor.
    host_polls: u64,
    /// Of tasks.
    polls: u64,
    /// By the thread, in nanoseconds.
    cpu: u64,
}

/// Waits on each host.
pub fn measure(options: &Options) -> Result<Vec<Figure>, Failure> {
    let wait = Duration::from_millis(if options.quick { 500 } else { options.wait });
    let mut figures = vec![
        Figure::told(8, "waiting tasks", options.tasks as f64),
        Figure::told(8, "seconds of waiting on each host", wait.as_secs_f64()),
    ];
    // A host that spins is never idle.
    for &host in Host::ALL.iter().filter(|&&host| host != Host::Spinning) {
        let cost = wait_on(host, wait, options.tasks)?;
        let none = Bound::Exactly(0.0);
        figures.push(Figure::held(8, format!("host polls while idle, {host}"), cost.host_polls as f64, none));
        figures.push(Figure::held(8, format!("polls of tasks while idle, {host}"), cost.polls as f64, none));
        let cpu = cost.cpu as f64 / 1_000.0;
        let what = format!("CPU time of the whole wait, to go to sleep and wake up included, µs, {host}");
        figures.push(Figure::held(8, what, cpu, Bound::AtMost(ONCE)));
    }
    Ok(figures)
}

fn wait_on(host: Host, wait: Duration, tasks: usize) -> Result<Cost, Failure> {
    let ex = Rc::new(Executor::new());
    spawn(&ex, tasks).map_err(|error| Failure::run(error.to_string()))?;
    host.run(&ex, async {
        // All tasks have been polled, and the host has settled.
        for _ in 0..100 {
            clockworker::yield_now().await;
        }
        over(doze(Duration::from_millis(10))).await?;
        let over_by = doze(wait);
        let before = Cost { cpu: cpu_ns(), ..counts(&ex) };
        over(over_by).await?;
        let (cpu, after) = (cpu_ns(), counts(&ex));
        // The poll that this goes on in was for the wake.
        Ok(Cost {
            host_polls: after.host_polls - before.host_polls - 1,
            polls: after.polls - before.polls,
            cpu: cpu - before.cpu,
        })
    })?
}

/// Tasks that wait for ever, in three queues.
fn spawn(ex: &Executor, tasks: usize) -> Result<(), QueueError> {
    let queues = [ex.queue("a").create()?, ex.queue("b").share(3).create()?, ex.queue("c").create()?];
    for queue in queues.iter().cycle().take(tasks) {
        let _detached = queue.spawn(std::future::pending::<()>());
    }
    Ok(())
}

/// Sends after that time, from another thread: what this one's timers cost is not the executor's.
fn doze(time: Duration) -> Receiver<()> {
    let (send, receive) = oneshot::channel();
    thread::spawn(move || {
        #[allow(clippy::disallowed_methods, reason = "it lets a real second pass")]
        thread::sleep(time);
        send.send(())
    });
    receive
}

async fn over(doze: Receiver<()>) -> Result<(), Failure> {
    doze.await.map_err(|_| Failure::run("the sleeping thread is gone"))
}

fn counts(ex: &Executor) -> Cost {
    let stats = ex.stats();
    Cost { host_polls: stats.host_polls, polls: stats.polls, cpu: 0 }
}

/// CPU time of this thread.
fn cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
