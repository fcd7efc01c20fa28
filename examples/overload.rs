//! How do I keep answers fast when more comes than can be served?
//!
//! Have the queue refuse what is too much, at once, and find out how much that is by the time from accept to answer. The clock is a
//! manual one here, so the output is the same on every machine: tasks "work" by moving it on.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::cell::Cell;
use std::error::Error;
use std::rc::Rc;
use std::time::Duration;

use clockworker::{Executor, ManualClock, QueueStats};
use clockworker_examples::adaptive_limit::AdaptiveLimit;
use futures::StreamExt;
use futures::channel::mpsc;

const TARGET: Duration = Duration::from_millis(10);

/// Three requests come for each two that can be served, for three seconds; each is ten pieces of 10 µs. How long those took at most
/// that were answered in the last one, and what the queue says.
fn overload(is_limited: bool) -> Result<(Duration, QueueStats), Box<dyn Error>> {
    let clock = ManualClock::new();
    let ex = Executor::builder().clock(clock.clone()).build()?;
    let requests = ex.new_queue("requests").create()?;
    let limit = is_limited.then(|| AdaptiveLimit::new(requests.clone(), TARGET)).transpose()?;
    let (limit, longest) = (Rc::new(limit), Rc::new(Cell::new(Duration::ZERO)));
    let (answers, mut each_answer) = mpsc::unbounded();
    ex.block_on(async {
        for round in 0..30_000_u32 {
            // One is answered between two rounds.
            let arrivals = 1 + round % 2;
            for _ in 0..arrivals {
                let (clock, came, answers) = (clock.clone(), clock.now(), answers.clone());
                let (limit, longest) = (Rc::clone(&limit), Rc::clone(&longest));
                // A refusal would be answered with 503 here.
                let _ = requests.try_spawn(async move {
                    for _ in 0..10 {
                        clock.advance(Duration::from_micros(10));
                        clockworker::yield_now().await;
                    }
                    if let Some(limit) = &*limit {
                        limit.answered(clock.now() - came);
                    }
                    if clock.now() >= Duration::from_secs(2) {
                        longest.set(longest.get().max(clock.now() - came));
                    }
                    let _ = answers.unbounded_send(());
                });
            }
            each_answer.next().await;
        }
    });
    Ok((longest.get(), requests.stats()))
}

fn main() -> Result<(), Box<dyn Error>> {
    for (way, is_limited) in [("takes everything", false), ("adaptive limit", true)] {
        let (longest, stats) = overload(is_limited)?;
        let QueueStats { completed, refused, live, .. } = stats;
        println!(
            "{way:16} answered {completed}, refused {refused}, left {live}; the last took up to {longest:?}"
        );
    }
    Ok(())
}
