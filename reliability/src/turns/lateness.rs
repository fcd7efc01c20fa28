//! How late the host's timers are beside tasks that always have work. By the real clock, so it is only told.

#![allow(clippy::disallowed_methods, reason = "it measures how late real timers are")]

use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use clockworker::{Executor, Queue, QueueError};
use clockworker_testing::host::Host;

const SLEEP: Duration = Duration::from_millis(1);

/// How long a poll of the tasks computes.
const POLL: Duration = Duration::from_micros(20);

/// How late a host's timers were, in microseconds.
#[derive(Debug)]
pub(super) struct Lateness(Vec<f64>);

impl Lateness {
    /// The lateness that so many parts of 1,000 do not exceed.
    pub(super) fn at(&self, per_mille: usize) -> f64 {
        let last = self.0.len().saturating_sub(1);
        self.0.get(last * per_mille / 1_000).copied().unwrap_or(f64::NAN)
    }
}

/// Sleeps so many times beside two queues of four tasks each. None on a host without timers.
pub(super) fn measure(host: Host, sleeps: u32) -> anyhow::Result<Option<Lateness>> {
    if !has_timers(host) {
        return Ok(None);
    }
    let ex = Executor::new();
    let stop = Rc::new(Cell::new(false));
    let queues = busy_queues(&ex, &stop)?;
    let mut late = host.run(&ex, async {
        let mut late = Vec::new();
        for _ in 0..sleeps {
            let due = Instant::now() + SLEEP;
            sleep(host).await;
            late.push(Instant::now().saturating_duration_since(due).as_nanos() as f64 / 1_000.0);
        }
        stop.set(true);
        ex.drained().await;
        late
    })?;
    drop(queues);
    late.sort_by(f64::total_cmp);
    Ok(Some(Lateness(late)))
}

fn busy_queues(ex: &Executor, stop: &Rc<Cell<bool>>) -> Result<[Queue; 2], QueueError> {
    let queues = [ex.new_queue("one").create()?, ex.new_queue("four").share(4).create()?];
    for queue in &queues {
        for _ in 0..4 {
            let stop = Rc::clone(stop);
            let _detached = queue.spawn(async move {
                while !stop.get() {
                    let began = Instant::now();
                    while began.elapsed() < POLL {
                        std::hint::spin_loop();
                    }
                    clockworker::yield_now().await;
                }
            });
        }
    }
    Ok(queues)
}

fn has_timers(host: Host) -> bool {
    !matches!(host, Host::Alone | Host::Spinning)
}

async fn sleep(host: Host) {
    match host {
        Host::Tokio => tokio::time::sleep(SLEEP).await,
        #[cfg(target_os = "linux")]
        Host::Monoio => monoio::time::sleep(SLEEP).await,
        // smol's timers work anywhere.
        Host::Smol | Host::Alone | Host::Spinning => drop(smol::Timer::after(SLEEP).await),
    }
}
