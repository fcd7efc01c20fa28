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
use std::hint::{black_box, spin_loop};
use std::path::Path;
use std::time::{Duration, Instant};

use clockworker::schedulers::FairGroups;
use clockworker::{Executor, yield_now};
use clockworker_observe::{Observation, Observe, QueueFrames};
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
        acme.spawn(work(for_acme, 20, end));
        globex.spawn(work(for_globex, 20, end));
        reports.spawn(work(for_reports, 200, end));
        batch.spawn(work(for_batch, 50, end));
    }
    let sampling = Sampling::begin()?;
    ex.block_on(ex.drained());
    let frames = ex.queue_frames();
    let report = sampling.end(move |stack| name_frames(stack, &frames))?;
    report.flamegraph(File::create(path)?)?;
    Ok(report)
}

/// Computes and yields until the end. Polls of one length would keep step with the samples.
async fn work(compute: fn(Duration), mean_us: u64, end: Instant) {
    while Instant::now() < end {
        compute(Duration::from_micros(fastrand::u64(0..2 * mean_us)));
        yield_now().await;
    }
}

#[inline(never)]
fn for_acme(poll: Duration) {
    spin(poll, "acme");
}

#[inline(never)]
fn for_globex(poll: Duration) {
    spin(poll, "globex");
}

#[inline(never)]
fn for_reports(poll: Duration) {
    spin(poll, "reports");
}

#[inline(never)]
fn for_batch(poll: Duration) {
    spin(poll, "batch");
}

/// The name keeps the callers apart, which would be one function otherwise.
fn spin(poll: Duration, name: &str) {
    let began = Instant::now();
    while began.elapsed() < poll {
        black_box(name);
        spin_loop();
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
        let of_it = report.data.iter().filter(|(stack, _)| has(stack, begin));
        of_it.map(|(_, &count)| count as f64).sum()
    };
    100.0 * samples(frame) / samples("queue: ")
}

/// Whether a frame of the stack begins so.
fn has(stack: &Frames, begin: &str) -> bool {
    stack.frames.iter().flatten().any(|symbol| symbol.name().starts_with(begin))
}

#[test]
fn each_sample_is_of_the_queue_and_group_whose_task_was_polled() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("queues.svg");
    let report = profile(Duration::from_secs(3), &path).unwrap();
    let svg = fs::read_to_string(path).unwrap();
    let functions = [
        ("queues::for_acme", &["queue: requests", "group: acme"][..]),
        ("queues::for_globex", &["queue: requests", "group: globex"]),
        ("queues::for_reports", &["queue: reports"]),
        ("queues::for_batch", &["queue: batch"]),
    ];
    for (function, frames) in functions {
        let stacks: Vec<&Frames> = report.data.keys().filter(|stack| has(stack, function)).collect();
        assert!(!stacks.is_empty(), "{function}");
        for frame in frames {
            assert!(stacks.iter().all(|stack| has(stack, frame)), "{function} without {frame}");
            assert!(svg.contains(frame), "{frame}");
        }
    }
}
