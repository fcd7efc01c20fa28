//! What did my executor do before it was killed?
//!
//! The service records what its queues do and how long its requests take, into a file that outlives it. `clockworker-top` shows the file
//! meanwhile and afterwards.

#![forbid(unsafe_code)]
#![allow(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "an example: it says where it records, by the wall clock"
)]

use std::error::Error;
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime};

use clap::Parser;
use clockworker::{Executor, yield_now};
use clockworker_observe::recorder::Recorder;
use clockworker_observe::{Observation, Observe};

#[derive(Parser)]
struct Options {
    /// For how many seconds it runs
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    seconds: u64,
    /// Where it records
    #[arg(long, value_name = "FILE", default_value = "target/service.cwr")]
    out: PathBuf,
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::parse();
    let ex = Executor::new();
    ex.observe(Observation::new().latency())?;
    let requests = ex.new_queue("requests").share(9).create()?;
    let reports = ex.new_queue("reports").create()?;
    let mut recorder = Recorder::create(&options.out)?;
    let response = recorder.series("response µs")?;
    println!("recording into {}", options.out.display());
    reports.spawn(async {
        loop {
            compute(Duration::from_micros(500));
            yield_now().await;
        }
    });
    let (handle, observer) = (ex.handle(), ex.observer());
    ex.block_on(async {
        for _ in 0..options.seconds {
            let second = Instant::now();
            while second.elapsed() < Duration::from_secs(1) {
                let began = Instant::now();
                requests.spawn(async { compute(Duration::from_micros(50)) }).await?;
                response.record(began.elapsed().as_micros() as u64);
            }
            recorder.record(handle.stats().await?, observer.observed(), SystemTime::now());
        }
        Ok(())
    })
}

fn compute(time: Duration) {
    let began = Instant::now();
    while began.elapsed() < time {
        std::hint::spin_loop();
    }
}
