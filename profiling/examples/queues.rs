//! Which queue and which tenant did the time go to?
//!
//! Three queues run under pprof, the first of two tenants. The flame graph has a frame for each of them; the table compares their parts of
//! the samples with their shares.
//!
//! ```console
//! $ cargo run --profile profiling -p clockworker-profiling --example queues
//! ```

#![allow(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "an example whose tasks compute for a time"
)]

use std::error::Error;
use std::fs::{self, File};
use std::hint::spin_loop;
use std::path::Path;
use std::time::{Duration, Instant};

use clockworker::observe::{Observation, QueueFrames};
use clockworker::schedulers::FairGroups;
use clockworker::{Executor, yield_now};
use clockworker_profiling::Sampling;
use clockworker_profiling::pprof::{Frames, Report};

/// The frames, and what they are to have of the time, in percent.
const FRAMES: [(&str, f64); 5] = [
    ("queue: requests", 60.0),
    ("queue: reports", 30.0),
    ("queue: batch", 10.0),
    ("group: acme", 40.0),
    ("group: globex", 20.0),
];

fn main() -> Result<(), Box<dyn Error>> {
    fs::create_dir_all("target/profiling")?;
    let path = Path::new("target/profiling/queues.svg");
    let report = profile(Duration::from_secs(10), path)?;
    println!("{:16} {:>9} {:>7}", "", "samples %", "share %");
    for (frame, share) in FRAMES {
        println!("{frame:16} {:>9.1} {share:>7.1}", percent_of(&report, frame));
    }
    println!("flame graph: {}", path.display());
    Ok(())
}

/// Runs the queues for that time.
fn profile(time: Duration, path: &Path) -> Result<Report, Box<dyn Error>> {
    let ex = Executor::new();
    ex.observe(Observation::new().frames_of_groups())?;
    let requests = ex.new_queue("requests").share(6).scheduler(FairGroups::new()).create()?;
    let acme = requests.new_group(1).name("acme").weight(2).open()?;
    let globex = requests.new_group(2).name("globex").open()?;
    let reports = ex.new_queue("reports").share(3).create()?;
    let batch = ex.new_queue("batch").create()?;
    let end = Instant::now() + time;
    for _ in 0..4 {
        acme.spawn(work(20, end));
        globex.spawn(work(20, end));
        reports.spawn(work(200, end));
        batch.spawn(work(50, end));
    }
    let sampling = Sampling::begin()?;
    ex.block_on(ex.drained());
    let frames = ex.queue_frames();
    let report = sampling.end(move |stack| name_frames(stack, &frames))?;
    report.flamegraph(File::create(path)?)?;
    Ok(report)
}

/// Computes and yields until the end. Polls of one length would keep step with the samples.
async fn work(mean_us: u64, end: Instant) {
    while Instant::now() < end {
        let poll = Duration::from_micros(fastrand::u64(0..2 * mean_us));
        let began = Instant::now();
        while began.elapsed() < poll {
            spin_loop();
        }
        yield_now().await;
    }
}

/// Gives the frames of queues and groups their names.
fn name_frames(stack: &mut Frames, frames: &QueueFrames) {
    let mut in_queue: Option<String> = None;
    let outermost_first = stack.frames.iter_mut().rev().flatten();
    for symbol in outermost_first {
        let frame = symbol.name();
        if let Some(queue) = frames.queue_of(&frame) {
            symbol.name = Some(format!("queue: {queue}").into_bytes());
            in_queue = Some(frame);
        } else if let Some(group) = in_queue.as_ref().and_then(|queue| frames.group_of(queue, &frame)) {
            symbol.name = Some(format!("group: {group}").into_bytes());
        }
    }
}

/// The samples that have this frame, of those of all queues.
fn percent_of(report: &Report, frame: &str) -> f64 {
    let samples = |begin: &str| -> f64 {
        let has =
            |stack: &Frames| stack.frames.iter().flatten().any(|symbol| symbol.name().starts_with(begin));
        report.data.iter().filter(|(stack, _)| has(stack)).map(|(_, &count)| count as f64).sum()
    };
    100.0 * samples(frame) / samples("queue: ")
}

#[test]
fn samples_agree_with_shares() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("queues.svg");
    let report = profile(Duration::from_secs(8), &path).unwrap();
    let svg = fs::read_to_string(path).unwrap();
    for (frame, share) in FRAMES {
        assert!(svg.contains(frame), "{frame}");
        // Beside other programs the queue that runs when they take the processor is charged for the time.
        let percent = percent_of(&report, frame);
        assert!((percent - share).abs() < 5.0, "{frame}: {percent} % for {share} %");
    }
}
