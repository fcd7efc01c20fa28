//! How do I keep a request from waiting behind the background work that it needs?
//!
//! By lending: a task that awaits `handle.lending()` has the awaited task served in its own place. The clock is a manual one
//! here, so the output is the same on every machine: tasks "work" by moving it on.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::time::Duration;

use clockworker::{Executor, ManualClock};

/// So many polls of 100 µs.
async fn work(clock: ManualClock, polls: u32) {
    for _ in 0..polls {
        clock.advance(Duration::from_micros(100));
        clockworker::yield_now().await;
    }
}

/// When the request is answered, and how much of that its queue has paid for.
fn answered_at(lends: bool) -> Result<(Duration, Duration), Box<dyn Error>> {
    let clock = ManualClock::new();
    let ex = Executor::builder().clock(clock.clone()).build()?;
    let requests = ex.new_queue("requests").share(99).create()?;
    let background = ex.new_queue("background").share(1).create()?;
    for _ in 0..100 {
        background.spawn(work(clock.clone(), 1_000));
    }
    let report = background.spawn(work(clock.clone(), 10));
    let request = requests.spawn({
        let clock = clock.clone();
        async move {
            match lends {
                true => report.lending().await?,
                false => report.await?,
            }
            Ok::<_, clockworker::JoinError>(clock.now())
        }
    });
    let answered = ex.block_on(request)??;
    Ok((answered, requests.stats().busy))
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("a request of a queue with 99 % awaits a report of 1 ms, behind 100 tasks of a queue with 1 %");
    for (way, lends) in [("report.await", false), ("report.lending().await", true)] {
        let (answered, paid) = answered_at(lends)?;
        println!("{way:23} answered after {answered:?}, of which its queue paid {paid:?}");
    }
    Ok(())
}
