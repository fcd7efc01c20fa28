//! Promise 8: an executor whose tasks all wait costs nothing.

use std::rc::Rc;
use std::thread;
use std::time::Duration;

use clap::Args;
use clockworker::Executor;
use clockworker_testing::host::Host;
use rustix::time::{ClockId, clock_gettime};
use tokio::sync::oneshot::{self, Receiver};

use crate::figure::{Figure, at_most, none, told};

/// CPU time that going to sleep and waking up once may take, in microseconds.
const ONCE: f64 = 1_000.0;

/// Waits on each host. Their least CPU time counts: an executor that is not idle shows it in each, what the machine
/// takes beside it only in some.
const WAITS: u32 = 5;

#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    /// How long to wait on each host, in milliseconds, five waits together.
    #[arg(long, value_name = "MS", default_value_t = 10_000)]
    wait: u64,
    /// Half a second on each host.
    #[arg(long, conflicts_with = "wait")]
    quick: bool,
}

const TASKS: usize = 1_000;

pub(crate) fn measure(options: &Options) -> anyhow::Result<Vec<Figure>> {
    let wait = Duration::from_millis(if options.quick { 500 } else { options.wait });
    let mut figures =
        vec![told(8, "waiting tasks", TASKS), told(8, "seconds of waiting on each host", wait.as_secs_f64())];
    // A host that spins is never idle.
    for &host in Host::ALL.iter().filter(|&&host| host != Host::Spinning) {
        figures.extend(wait_on(host, wait)?);
    }
    Ok(figures)
}

fn wait_on(host: Host, wait: Duration) -> anyhow::Result<[Figure; 3]> {
    let ex = Rc::new(Executor::new());
    let queues =
        [ex.new_queue("a").create()?, ex.new_queue("b").share(3).create()?, ex.new_queue("c").create()?];
    for queue in queues.iter().cycle().take(TASKS) {
        let _detached = queue.spawn(std::future::pending::<()>());
    }
    host.run(&ex, async {
        // All tasks have been polled, and the host has settled.
        for _ in 0..100 {
            clockworker::yield_now().await;
        }
        doze(Duration::from_millis(10)).await?;
        let (mut least_cpu, mut host_polls, mut polls) = (u64::MAX, 0, 0);
        for _ in 0..WAITS {
            let over_by = doze(wait / WAITS);
            let (cpu_before, before) = (cpu_ns(), ex.stats());
            over_by.await?;
            let (cpu, after) = (cpu_ns(), ex.stats());
            least_cpu = least_cpu.min(cpu - cpu_before);
            // The poll that this goes on in was for the wake.
            host_polls += after.host_polls - before.host_polls - 1;
            polls += after.polls - before.polls;
        }
        let what =
            format!("CPU time of a wait, to go to sleep and wake up included, least of {WAITS}, µs, {host}");
        Ok([
            none(8, format!("host polls while idle, {host}"), host_polls),
            none(8, format!("polls of tasks while idle, {host}"), polls),
            at_most(8, what, least_cpu as f64 / 1_000.0, ONCE),
        ])
    })?
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

fn cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
