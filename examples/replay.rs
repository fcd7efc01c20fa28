//! How do I find out what my requests would have seen under another scheduler?
//!
//! Requests come from another thread while the executor keeps a timeline. Then they are run again in virtual time, under the scheduler
//! that they had, which shows how far to believe it, and under another one. A run of that one beside it shows whether it was right.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::fs::{self, File};
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use clap::Parser;
use clockworker::schedulers::{Qlas, RunnableFifo};
use clockworker::{Executor, Handle, yield_now};
use clockworker_examples::compute;
use clockworker_observe::Workload;
use clockworker_observe::{Observation, Observe, Timeline};
use clockworker_schedulers::simulate::{Arrivals, Done, Job, Policy, Service, Stream};
use futures::channel::oneshot;

/// Two in a hundred requests take forty times as long as the others.
const SERVICE: &str = "bimodal:short=50us,long=2ms,part=0.02";

/// A request yields after each.
const POLL: Duration = Duration::from_micros(100);

/// For half a million polls and more.
const TIMELINE_BYTES: usize = 64 << 20;

const SCHEDULERS: [&str; 2] = ["fifo", "qlas"];

#[derive(Parser)]
struct Options {
    /// Requests of each run
    #[arg(long, value_name = "N", default_value_t = 30_000, value_parser = clap::value_parser!(u64).range(100..=200_000))]
    requests: u64,
    /// The parts of the thread that they ask for, separated by commas
    #[arg(long, value_delimiter = ',', default_values_t = [0.7, 0.9])]
    load: Vec<f64>,
    /// Where the requests go, for `clockworker-simulate --trace`
    #[arg(long, value_name = "FILE", default_value = "target/replay.csv")]
    out: PathBuf,
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::parse();
    options.out.parent().map_or(Ok(()), fs::create_dir_all)?;
    let service: Service = SERVICE.parse()?;
    println!("load  ran    replayed     mean wait       × measured    p99 wait        × measured");
    for &load in &options.load {
        let stream = Stream::new(service.clone(), load);
        let requests: Vec<Job> = Arrivals::new(&[stream], options.requests, 1)?.collect();
        let runs = SCHEDULERS.map(|scheduler| Workload::of(&run(scheduler, &requests)));
        for (ran, workload) in SCHEDULERS.iter().zip(&runs) {
            for (replayed, truth) in SCHEDULERS.iter().zip(&runs) {
                let policy = Policy::named(replayed).ok_or("there is no such policy")?;
                let mut done = Vec::new();
                workload.replay(|_| policy.make(), |job| done.push(job))?;
                let (found, measured) = (Waits::of(&done), Waits::of(truth.measured()));
                println!(
                    "{load:<5} {ran:<6} {replayed:<6} {:>15.1?} {:>16.3} {:>11.1?} {:>16.3}",
                    found.mean,
                    found.mean.div_duration_f64(measured.mean),
                    found.p99,
                    found.p99.div_duration_f64(measured.p99),
                );
            }
        }
        runs[0].write_csv(File::create(&options.out)?)?;
    }
    println!("the last requests under fifo: {}", options.out.display());
    Ok(())
}

/// How long requests waited.
struct Waits {
    mean: Duration,
    p99: Duration,
}

impl Waits {
    fn of(done: &[Done]) -> Self {
        let mut waits: Vec<u64> = done.iter().map(Done::wait_ns).collect();
        waits.sort_unstable();
        let p99 = waits.get(waits.len() * 99 / 100).copied().unwrap_or(0);
        let mean = waits.iter().sum::<u64>() / waits.len().max(1) as u64;
        Self { mean: Duration::from_nanos(mean), p99: Duration::from_nanos(p99) }
    }
}

/// Has the requests come from another thread when they are to, and keeps what happens.
fn run(scheduler: &str, requests: &[Job]) -> Timeline {
    let ex = match scheduler {
        "qlas" => Executor::builder().scheduler(Qlas::new()).build(),
        _ => Executor::builder().scheduler(RunnableFifo::new()).build(),
    };
    let ex = ex.expect("the defaults are valid");
    let observation = Observation::new().timeline(TIMELINE_BYTES).every_poll();
    ex.observe(observation).expect("the timeline is not too long");
    let handle = ex.handle();
    let (all_sent, sent) = oneshot::channel();
    thread::scope(|scope| {
        scope.spawn(move || {
            send(&handle, requests);
            // The executor waits for it.
            let _ = all_sent.send(());
        });
        ex.block_on(async {
            // Nothing but the sender's panic, which the scope passes on, cancels it.
            let _ = sent.await;
            ex.drained().await;
        });
    });
    ex.timeline()
}

/// Sends each request when it is to come. Does not sleep, which would be a matter of some 50 µs.
#[allow(clippy::disallowed_methods, reason = "the requests come in real time")]
fn send(handle: &Handle, requests: &[Job]) {
    let began = Instant::now();
    for request in requests {
        while began.elapsed() < Duration::from_nanos(request.at_ns) {
            std::hint::spin_loop();
        }
        let work = Duration::from_nanos(request.service_ns);
        drop(handle.spawn(move || serve(work)));
    }
}

/// Works for so long in all.
async fn serve(work: Duration) {
    let mut left = work;
    while left > Duration::ZERO {
        let poll = left.min(POLL);
        compute(poll);
        left -= poll;
        if left > Duration::ZERO {
            yield_now().await;
        }
    }
}
