//! How do I let a tenant's short job pass another's many long ones?
//!
//! Make each tenant a group, and let a scheduler that looks at what each group has had choose inside the queue. The clock
//! is a manual one here, so the output is the same on every machine: tasks "work" by moving it on.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::time::Duration;

use clockworker::schedulers::{Las, Qlas, RunnableFifo, Scheduler, Serpt};
use clockworker::{Executor, ManualClock};

/// A task of so many polls of 10 µs.
async fn job(clock: ManualClock, polls: u32) {
    for _ in 0..polls {
        clock.advance(Duration::from_micros(10));
        clockworker::yield_now().await;
    }
}

/// When the modest tenant has its answer, and when the greedy one has the last of its own.
fn finished_at(scheduler: impl Scheduler + 'static) -> Result<(Duration, Duration), Box<dyn Error>> {
    let clock = ManualClock::new();
    let ex = Executor::builder().clock(clock.clone()).build()?;
    let queue = ex.new_queue("requests").scheduler(scheduler).create()?;
    let (greedy, modest) = (queue.group(1), queue.group(2));

    // One tenant sends 20 requests of 1 ms each; a moment later the other sends one of 50 µs. What they spawn with
    // `spawn_local` would be on the same tenant's account.
    let many: Vec<_> = (0..20).map(|_| greedy.spawn(job(clock.clone(), 100))).collect();
    let one = modest.spawn(job(clock.clone(), 5));

    ex.block_on(async {
        one.await?;
        let first = clock.now();
        for task in many {
            task.await?;
        }
        Ok((first, clock.now()))
    })
}

fn main() -> Result<(), Box<dyn Error>> {
    let rows = [
        ("RunnableFifo", finished_at(RunnableFifo::new())?),
        ("Las", finished_at(Las::new())?),
        ("Qlas", finished_at(Qlas::new())?),
        ("Serpt", finished_at(Serpt::new())?),
    ];
    println!("finished at    modest tenant   greedy tenant");
    for (name, (modest, greedy)) in rows {
        println!("{name:12} {:>15} {:>15}", format!("{modest:?}"), format!("{greedy:?}"));
    }
    Ok(())
}
