//! What does it cost a poll to be observed? 1,000 tasks that yield 1,000 times each, observed in one way after the other, against not
//! being observed, in the same build. (What the feature costs by itself is in `benches/budgets`.)
//!
//! Each round has each way once, every other round backwards; a round's time is taken against the same round's first way. The last way
//! is the first one again: its ratio says what the measurement is worth.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, clippy::disallowed_methods, reason = "an example that measures")]

use std::error::Error;
use std::time::{Instant, SystemTime};

use clap::Parser;
use clockworker::observe::Observation;
use clockworker::{Executor, yield_now};
use clockworker_recorder::Recorder;

const TASKS: usize = 1_000;
const YIELDS: usize = 1_000;

#[derive(Parser)]
struct Options {
    /// How often each way is taken
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u64).range(10..))]
    rounds: u64,
}

/// A name, what is observed, and whether it is recorded, once a run: some fifty times as often as once a second.
type Way = (&'static str, Observation, bool);

fn main() -> Result<(), Box<dyn Error>> {
    let rounds = Options::parse().rounds;
    let latency = Observation::new().latency();
    let bytes = 1 << 20;
    let ways: [Way; 6] = [
        ("not observed", Observation::new(), false),
        ("latency", latency, false),
        ("latency, recorded", latency, true),
        ("timeline", Observation::new().timeline(bytes), false),
        ("latency and timeline", latency.timeline(bytes), false),
        ("not observed, again", Observation::new(), false),
    ];
    let folder = std::env::temp_dir().join(format!("observing_cost-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let file = folder.join("recording.cwr");
    let mut times = vec![Vec::new(); ways.len()];
    for round in 0..rounds {
        let mut order: Vec<usize> = (0..ways.len()).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        for way in order {
            let (_, observation, is_recorded) = ways[way];
            let recorder = if is_recorded { Some(Recorder::create(&file)?) } else { None };
            times[way].push(run(observation, recorder)?);
        }
    }
    std::fs::remove_dir_all(&folder)?;
    println!("{:22}{:>9}  ratio (95 %)", "", "ns/poll");
    for ((name, ..), taken) in ways.iter().zip(&times) {
        let ratios = taken.iter().zip(&times[0]).map(|(time, base)| time / base).collect();
        let ((ns, _), (ratio, (low, high))) = (median(taken.clone()), median(ratios));
        println!("{name:22}{ns:>9.2}  {ratio:.3} ({low:.3}-{high:.3})");
    }
    Ok(())
}

/// Nanoseconds a poll.
fn run(observation: Observation, recorder: Option<Recorder>) -> Result<f64, Box<dyn Error>> {
    let ex = Executor::new();
    ex.observe(observation)?;
    let began = Instant::now();
    ex.block_on(async {
        let task = || async {
            for _ in 0..YIELDS {
                yield_now().await;
            }
        };
        let tasks: Vec<_> = (0..TASKS).map(|_| ex.spawn(task())).collect();
        for task in tasks {
            task.await?;
        }
        Ok::<_, clockworker::JoinError>(())
    })?;
    if let Some(mut recorder) = recorder {
        recorder.record(ex.stats(), SystemTime::now());
    }
    Ok(began.elapsed().as_nanos() as f64 / (TASKS * (YIELDS + 1)) as f64)
}

/// The median, and between which of the values it is with 95 % (the ranks of a binomial distribution).
fn median(mut values: Vec<f64>) -> (f64, (f64, f64)) {
    values.sort_by(f64::total_cmp);
    let (count, last) = (values.len() as f64, values.len() - 1);
    let rank = |at: f64| values[(at.round().max(0.0) as usize).min(last)];
    let half = 0.98 * count.sqrt();
    (rank(count / 2.0 - 0.5), (rank(count / 2.0 - 0.5 - half), rank(count / 2.0 - 0.5 + half)))
}
