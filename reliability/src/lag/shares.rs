//! A second of virtual time on the executor, in which every queue has work.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use clockworker::{Executor, Queue, QueueError};
use clockworker_testing::virtual_time::VirtualTime;
use fastrand::Rng;

use crate::cases::{Worst, log_uniform};

const SECOND: Duration = Duration::from_secs(1);

/// Which part of the CPU a queue must be owed for its error to be told in parts of that. With 500 µs of request and 100 µs
/// of poll, 1 % of a tenth of a second is more than its lag may be.
const PART: f64 = 0.1;

/// The worst that was seen, in per cent.
#[derive(Debug, Default)]
pub(super) struct Errors {
    pub(super) of_owed: Worst,
    pub(super) of_second: Worst,
}

/// Runs a second, and adds what the queues' service is off by.
pub(super) fn run_a_second(seed: u64, errors: &mut Errors) -> anyhow::Result<()> {
    let mut rng = Rng::with_seed(seed);
    let time = VirtualTime::new();
    let ex = Executor::builder().clock(time.clock()).build()?;
    let queues = queues(&ex, &mut rng)?;
    let rng = Rc::new(RefCell::new(rng));
    for queue in &queues {
        let tasks = rng.borrow_mut().u32(1..=4);
        let longest = log_uniform(&mut rng.borrow_mut(), 10_000, 100_000);
        for _ in 0..tasks {
            let (time, rng) = (time.clone(), Rc::clone(&rng));
            let _detached = queue.spawn(async move {
                while time.now() < SECOND {
                    let length = rng.borrow_mut().u64(1..=longest);
                    time.pass(Duration::from_nanos(length));
                    clockworker::yield_now().await;
                }
            });
        }
    }
    time.drive(&ex, || time.now() >= SECOND, || Duration::ZERO)?;
    let busy = |queue: &Queue| queue.stats().busy.as_nanos() as f64;
    let total: f64 = queues.iter().map(busy).sum();
    let shares: f64 = queues.iter().map(|queue| f64::from(queue.share())).sum();
    for queue in &queues {
        let part = f64::from(queue.share()) / shares;
        let error = (busy(queue) - part * total).abs();
        errors.of_second.add(100.0 * error / total, seed);
        if part >= PART {
            errors.of_owed.add(100.0 * error / (part * total), seed);
        }
    }
    Ok(())
}

fn queues(ex: &Executor, rng: &mut Rng) -> Result<Vec<Queue>, QueueError> {
    let widest = [1, 10, 100][rng.usize(..3)];
    (0..rng.usize(2..=8))
        .map(|index| ex.new_queue(&index.to_string()).share(log_uniform(rng, 1, widest) as u32).create())
        .collect()
}
