//! Three queues under pprof-rs: how much of the time is whose, by the profile, by the timeline and by the executor's accounts.

#![allow(clippy::disallowed_methods, reason = "the time stands for work")]

use std::collections::BTreeMap;
use std::fs;
use std::hint::black_box;
use std::io::Write;
use std::rc::Rc;
use std::time::{Duration, Instant};

use clockworker::observe::{EventKind, Observation, QueueFrames};
use clockworker::schedulers::Las;
use clockworker::{Executor, Queue, yield_now};
use clockworker_benches::failure::Failure;
use clockworker_benches::random::{Purpose, Random};
use pprof::{Frames, ProfilerGuardBuilder, Report};

use super::flamegraph::{create, failed, without_inlined};
use super::table::layout;
use crate::cli::QueuesOptions;

/// Enough for some minutes of these polls.
const TIMELINE_BYTES: usize = 64 << 20;

/// Nanoseconds by the names of queues.
type ByQueue = BTreeMap<String, f64>;

pub(crate) fn command(options: &QueuesOptions) -> Result<String, Failure> {
    let mut svg = create(&options.svg)?;
    let ex = Executor::new();
    let queues = queues(&ex);
    ex.observe(Observation::new().timeline(TIMELINE_BYTES)).map_err(Failure::run)?;
    let guard = ProfilerGuardBuilder::default().frequency(options.frequency).build().map_err(failed)?;
    run(&ex, &queues, options.seconds);
    let frames = ex.queue_frames();
    let report = guard.report().frames_post_processor(named(frames)).build().map_err(failed)?;
    report.flamegraph(&mut svg).map_err(failed)?;
    svg.flush().map_err(|error| Failure::unwritable(&options.svg, error))?;
    let profiled = by_profile(&report);
    if profiled.values().sum::<f64>() == 0.0 {
        return Err(Failure::run("not one sample was taken in a queue; ask for more --seconds"));
    }
    let accounts = ex.stats().queues.into_iter().map(|queue| (queue.name, queue.busy.as_nanos() as f64));
    let table = table(&[profiled, by_timeline(&ex), accounts.collect()]);
    let size = fs::metadata(&options.svg).map_or(0, |file| file.len());
    Ok(format!("{table}\nThe flame graph, {size} bytes: {}\n", options.svg.display()))
}

/// What a service might have: many short polls, few long ones, and a scheduler of its own for the third.
fn queues(ex: &Executor) -> Vec<(Queue, Duration)> {
    let create = |name, share| ex.new_queue(name).share(share);
    let queues = [
        (create("requests", 6).create(), 20),
        (create("reports", 3).create(), 200),
        (create("batch", 1).scheduler(Las::new()).create(), 50),
    ];
    let queues = queues.into_iter();
    queues.map(|(queue, us)| (queue.expect("the options are in range"), Duration::from_micros(us))).collect()
}

/// Tasks that compute and yield, eight of each queue.
fn run(ex: &Executor, queues: &[(Queue, Duration)], seconds: Duration) {
    let until = Rc::new(Instant::now() + seconds);
    for (queue, poll) in queues.iter().flat_map(|queue| std::iter::repeat_n(queue, 8)) {
        let (until, poll) = (Rc::clone(&until), *poll);
        queue.spawn(async move {
            // From none to twice as long: polls that all take the same keep step with the timer that takes the samples.
            let mut random = Random::new(7, Purpose::Work, poll.as_micros() as u64);
            while Instant::now() < *until {
                compute(random.between(Duration::ZERO, 2 * poll));
                yield_now().await;
            }
        });
    }
    ex.block_on(ex.drained());
}

#[inline(never)]
fn compute(time: Duration) {
    let began = Instant::now();
    while began.elapsed() < time {
        black_box((0..100_u64).fold(black_box(1_u64), |x, y| x ^ x.wrapping_mul(y)));
    }
}

/// Names the frames of queues after them.
fn named(queues: QueueFrames) -> impl Fn(&mut Frames) {
    move |frames| {
        without_inlined(frames);
        for symbol in frames.frames.iter_mut().flatten() {
            if let Some(queue) = queues.queue_of(&symbol.name()) {
                symbol.name = Some(format!("{PREFIX}{queue}").into_bytes());
            }
        }
    }
}

const PREFIX: &str = "queue: ";

fn by_profile(report: &Report) -> ByQueue {
    let mut samples = ByQueue::new();
    for (frames, count) in &report.data {
        let names = frames.frames.iter().flatten().map(|symbol| symbol.name());
        let queue = names.into_iter().find_map(|name| name.strip_prefix(PREFIX).map(str::to_owned));
        queue.into_iter().for_each(|queue| *samples.entry(queue).or_default() += *count as f64);
    }
    samples
}

fn by_timeline(ex: &Executor) -> ByQueue {
    let timeline = ex.timeline();
    let mut polls = ByQueue::new();
    for event in &timeline.events {
        if let EventKind::Polled { task, took, .. } = event.kind {
            let queue = timeline.queue_name(task.queue).unwrap_or("gone").to_owned();
            *polls.entry(queue).or_default() += took.as_nanos() as f64;
        }
    }
    polls
}

/// The parts of each queue, in percent, in the order of the columns.
fn table(columns: &[ByQueue; 3]) -> String {
    let part = |column: &ByQueue, queue: &String| {
        let sum: f64 = column.values().sum();
        column.get(queue).map_or("–".into(), |part| format!("{:.1}", 100.0 * part / sum))
    };
    let mut rows =
        vec![["queue", "samples, %", "polls in the timeline, %", "busy, %"].map(String::from).to_vec()];
    let queues = columns[2].iter().filter(|(_, busy)| **busy > 0.0);
    rows.extend(queues.map(|(queue, _)| {
        let parts = columns.iter().map(|column| part(column, queue));
        std::iter::once(queue.clone()).chain(parts).collect()
    }));
    layout(&rows)
}
