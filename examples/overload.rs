//! How do I keep the delay short when more comes than can be served?
//!
//! Shed load: the queue refuses what would wait for too long, and says so at once, while the rest is served in time. The clock
//! is a manual one here, so the output is the same on every machine: tasks "work" by moving it on.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::cell::RefCell;
use std::error::Error;
use std::rc::Rc;
use std::time::Duration;

use clockworker::schedulers::RunnableFifo;
use clockworker::{Executor, LoadShedding, ManualClock, QueueStats};
use futures::StreamExt;
use futures::channel::mpsc;

const SERVICE: Duration = Duration::from_micros(100);

/// Three requests come for each two that can be served, for three seconds: how long those waited at most that were served in
/// the last one, and what the queue says.
fn overload(shedding: Option<LoadShedding>) -> Result<(Duration, QueueStats), Box<dyn Error>> {
    let clock = ManualClock::new();
    let ex = Executor::builder().clock(clock.clone()).build()?;
    let queue = ex.new_queue("requests").scheduler(RunnableFifo::new()).create()?;
    queue.set_load_shedding(shedding)?;
    let longest = Rc::new(RefCell::new(Duration::ZERO));
    let (served, mut each_served) = mpsc::unbounded();
    ex.block_on(async {
        for round in 0..30_000_u32 {
            // A request is served between two rounds, and two come in the time of one and a third.
            let arrivals = if round % 2 == 0 { 1 } else { 2 };
            for _ in 0..arrivals {
                let (clock, longest, came) = (clock.clone(), Rc::clone(&longest), clock.now());
                let served = served.clone();
                // A refusal would be answered with 503 here.
                let _ = queue.try_spawn(async move {
                    if clock.now() >= Duration::from_secs(2) {
                        let waited = clock.now() - came;
                        longest.replace_with(|longest| waited.max(*longest));
                    }
                    clock.advance(SERVICE);
                    let _ = served.unbounded_send(());
                });
            }
            each_served.next().await;
        }
    });
    let longest = *longest.borrow();
    Ok((longest, queue.stats()))
}

fn main() -> Result<(), Box<dyn Error>> {
    for (way, shedding) in [("takes everything", None), ("sheds load", Some(LoadShedding::default()))] {
        let (longest, stats) = overload(shedding)?;
        let QueueStats { completed, shed, live, .. } = stats;
        println!(
            "{way:16} served {completed}, refused {shed}, left {live}; the latest waited for up to {longest:?}"
        );
    }
    Ok(())
}
