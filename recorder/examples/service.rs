//! A service that records what its queues do and how long its requests took, for `clockworker-top`: requests beside reports, until
//! ctrl-c or for so many seconds.

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
use clockworker::observe::Observation;
use clockworker::{Executor, yield_now};
use clockworker_recorder::Recorder;

#[derive(Parser)]
struct Options {
    /// The file to record into
    #[arg(default_value = "target/service.cwr")]
    file: PathBuf,
    /// For how many seconds
    #[arg(long, default_value_t = 10)]
    seconds: u64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::parse();
    let ex = Executor::new();
    ex.observe(Observation::new().latency())?;
    let requests = ex.new_queue("requests").share(9).create()?;
    let reports = ex.new_queue("reports").create()?;
    let mut recorder = Recorder::create(&options.file)?;
    let response = recorder.series("response µs")?;
    println!("recording into {}", options.file.display());
    reports.spawn(async {
        loop {
            compute(Duration::from_micros(500));
            yield_now().await;
        }
    });
    let handle = ex.handle();
    let end = Instant::now() + Duration::from_secs(options.seconds);
    ex.block_on(async {
        let mut next = Instant::now();
        while Instant::now() < end {
            let began = Instant::now();
            requests.spawn(async { compute(Duration::from_micros(50)) }).await?;
            response.record(began.elapsed().as_micros() as u64);
            if Instant::now() >= next {
                next += Duration::from_secs(1);
                recorder.record(handle.stats().await?, SystemTime::now());
            }
        }
        recorder.record(handle.stats().await?, SystemTime::now());
        Ok(())
    })
}

fn compute(time: Duration) {
    let began = Instant::now();
    while began.elapsed() < time {
        std::hint::spin_loop();
    }
}
