//! A service that records what its queues do and how long its requests take, for `clockworker-top`: requests beside reports.

#![forbid(unsafe_code)]
#![allow(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "an example: it says where it records, by the wall clock"
)]

use std::error::Error;
use std::time::{Duration, Instant, SystemTime};

use clockworker::{Executor, yield_now};
use clockworker_observe::{Observation, Observe};
use clockworker_recorder::Recorder;

const FILE: &str = "target/service.cwr";
const SECONDS: u64 = 10;

fn main() -> Result<(), Box<dyn Error>> {
    let ex = Executor::new();
    ex.observe(Observation::new().latency())?;
    let requests = ex.new_queue("requests").share(9).create()?;
    let reports = ex.new_queue("reports").create()?;
    let mut recorder = Recorder::create(FILE)?;
    let response = recorder.series("response µs")?;
    println!("recording into {FILE}");
    reports.spawn(async {
        loop {
            compute(Duration::from_micros(500));
            yield_now().await;
        }
    });
    let (handle, observer) = (ex.handle(), ex.observer());
    ex.block_on(async {
        for _ in 0..SECONDS {
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
