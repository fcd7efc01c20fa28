//! Which queue and which tenant did the time go to?
//!
//! Three queues run under pprof, the first of two tenants. The flame graph has a frame for each of them; the table compares their parts of
//! the samples with what the executor counted.
//!
//! ```console
//! $ cargo run --profile profiling -p clockworker-profiling --example queues
//! ```

#![cfg(any(target_os = "linux", target_os = "macos"))]
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
use clockworker::{Executor, Group, yield_now};
use clockworker_profiling::Sampling;
use clockworker_profiling::pprof::{Frames, Report};

const QUEUE: &str = "queue: ";
const GROUP: &str = "group: ";

/// A queue or a tenant, and its parts of what all queues had.
#[derive(Debug)]
struct Row {
    frame: String,
    samples: f64,
    busy: f64,
}

fn main() -> Result<(), Box<dyn Error>> {
    fs::create_dir_all("target/profiling")?;
    let path = Path::new("target/profiling/queues.svg");
    println!("{:16} {:>9} {:>7}", "", "samples %", "busy %");
    for Row { frame, samples, busy } in profile(Duration::from_secs(10), path)? {
        println!("{frame:16} {:>9.1} {:>7.1}", 100.0 * samples, 100.0 * busy);
    }
    println!("flame graph: {}", path.display());
    Ok(())
}

/// Runs the queues for that time.
fn profile(time: Duration, path: &Path) -> Result<Vec<Row>, Box<dyn Error>> {
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
    let busy = busy(&ex, &[acme, globex]);
    let all: f64 = busy.iter().filter(|(frame, _)| frame.starts_with(QUEUE)).map(|(_, busy)| busy).sum();
    let row =
        |(frame, busy): (String, f64)| Row { samples: part_of(&report, &frame), busy: busy / all, frame };
    Ok(busy.into_iter().map(row).collect())
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
            symbol.name = Some(format!("{QUEUE}{queue}").into_bytes());
            in_queue = Some(frame);
        } else if let Some(group) = in_queue.as_ref().and_then(|queue| frames.group_of(queue, &frame)) {
            symbol.name = Some(format!("{GROUP}{group}").into_bytes());
        }
    }
}

/// The seconds that the executor counted, by frame.
fn busy(ex: &Executor, tenants: &[Group]) -> Vec<(String, f64)> {
    let queues = ex.stats().queues.into_iter().filter(|queue| queue.polls > 0);
    let queues = queues.map(|queue| (format!("{QUEUE}{}", queue.name), queue.busy));
    let tenants = tenants.iter().map(Group::stats);
    let tenants = tenants.map(|tenant| {
        (format!("{GROUP}{}", tenant.name.unwrap_or_default()), tenant.busy.unwrap_or_default())
    });
    queues.chain(tenants).map(|(frame, busy)| (frame, busy.as_secs_f64())).collect()
}

/// The part of the samples of all queues that have this frame.
fn part_of(report: &Report, frame: &str) -> f64 {
    let samples = |is_wanted: &dyn Fn(&str) -> bool| -> f64 {
        let has = |stack: &Frames| stack.frames.iter().flatten().any(|symbol| is_wanted(&symbol.name()));
        report.data.iter().filter(|(stack, _)| has(stack)).map(|(_, &count)| count as f64).sum()
    };
    samples(&|name| name == frame) / samples(&|name| name.starts_with(QUEUE))
}

#[test]
fn samples_agree_with_the_executors_counters() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("queues.svg");
    let rows = profile(Duration::from_secs(8), &path).unwrap();
    let svg = fs::read_to_string(path).unwrap();
    assert_eq!(rows.len(), 5, "{rows:?}");
    for Row { frame, samples, busy } in &rows {
        assert!(svg.contains(frame), "{frame}");
        // Beside other programs the queue that runs when they take the processor is charged for the time.
        assert!((samples - busy).abs() < 0.05, "{rows:?}");
    }
}
