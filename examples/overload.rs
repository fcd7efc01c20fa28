//! How do I keep answers fast when more comes than can be served?
//!
//! Refuse what is too much, at once. A queue does so with a limit on its tasks, which finds out by itself how much that is by the time
//! from accept to answer. tower's middleware does so with a fixed one. The clock is a manual one here, so the output is the same on
//! every machine: tasks "work" by moving it on.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::cell::Cell;
use std::error::Error;
use std::future::ready;
use std::rc::Rc;
use std::time::Duration;

use clockworker::{Executor, ManualClock};
use clockworker_examples::adaptive_limit::AdaptiveLimit;
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};
use tower::{ServiceBuilder, ServiceExt};

const TARGET: Duration = Duration::from_millis(10);

/// What is done about too many requests.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Nothing,
    /// The queue refuses.
    AdaptiveLimit,
    /// tower refuses while a hundred are being answered.
    Tower,
}

/// Three requests come for each two that can be served, for three seconds; each is ten pieces of 10 µs. How many were answered and
/// refused, and how long those took at most that were answered in the last second.
fn overload(way: Way) -> Result<(usize, usize, Duration), Box<dyn Error>> {
    let clock = ManualClock::new();
    let ex = Executor::builder().clock(clock.clone()).build()?;
    let requests = ex.new_queue("requests").create()?;
    let adapts = way == Way::AdaptiveLimit;
    let limit = adapts.then(|| AdaptiveLimit::new(requests.clone(), TARGET)).transpose()?;
    let (limit, longest) = (Rc::new(limit), Rc::new(Cell::new(Duration::ZERO)));
    let spawned = requests.clone();
    let service = ServiceBuilder::new().load_shed().concurrency_limit(100);
    let service = service.service_fn(move |request| spawned.spawn(request));
    let (mut answered, mut refused) = (0, 0);
    ex.block_on(async {
        let mut answers = FuturesUnordered::new();
        for round in 0..30_000_u32 {
            // One is answered between two rounds.
            let arrivals = 1 + round % 2;
            for _ in 0..arrivals {
                let (clock, came) = (clock.clone(), clock.now());
                let (limit, longest) = (Rc::clone(&limit), Rc::clone(&longest));
                let request = async move {
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
                };
                answers.push(match way {
                    Way::Tower => service.clone().oneshot(request).map(|answer| answer.is_ok()).boxed_local(),
                    _ => match requests.try_spawn(request) {
                        Ok(task) => task.map(|answer| answer.is_ok()).boxed_local(),
                        Err(_) => ready(false).boxed_local(),
                    },
                });
            }
            // A refusal would be answered with 503.
            while let Some(false) = answers.next().await {
                refused += 1;
            }
            answered += 1;
        }
    });
    Ok((answered, refused, longest.get()))
}

fn main() -> Result<(), Box<dyn Error>> {
    let ways =
        [("takes everything", Way::Nothing), ("adaptive limit", Way::AdaptiveLimit), ("tower", Way::Tower)];
    for (name, way) in ways {
        let (answered, refused, longest) = overload(way)?;
        println!("{name:16} answered {answered}, refused {refused}; the last took up to {longest:?}");
    }
    Ok(())
}
