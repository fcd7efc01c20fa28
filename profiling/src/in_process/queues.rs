//! Three queues under pprof-rs, one of two tenants: how much of the time is whose, by the profile, by the timeline and by the executor's
//! accounts.

#![allow(clippy::disallowed_methods, reason = "the time stands for work")]

use std::collections::BTreeMap;
use std::fs;
use std::hint::black_box;
use std::io::Write;
use std::rc::Rc;
use std::time::{Duration, Instant};

use clockworker::observe::{EventKind, Observation, QueueFrames};
use clockworker::schedulers::{FairGroups, Las};
use clockworker::{Executor, Group, Queue, yield_now};
use clockworker_benches::failure::Failure;
use clockworker_benches::random::{Purpose, Random};
use pprof::{Frames, ProfilerGuardBuilder, Report};

use super::flamegraph::{create, failed, without_inlined};
use super::table::layout;
use crate::cli::QueuesOptions;

/// Enough for some minutes of these polls.
const TIMELINE_BYTES: usize = 64 << 20;

/// Nanoseconds or samples by the names of queues, or of groups.
type ByName = BTreeMap<String, f64>;

pub(crate) fn command(options: &QueuesOptions) -> Result<String, Failure> {
    let mut svg = create(&options.svg)?;
    let ex = Executor::new();
    let queues = queues(&ex);
    let tenants = tenants(&queues[0].0);
    ex.observe(Observation::new().timeline(TIMELINE_BYTES).frames_of_groups()).map_err(Failure::run)?;
    let guard = ProfilerGuardBuilder::default().frequency(options.frequency).build().map_err(failed)?;
    run(&ex, (&queues, &tenants), options.seconds);
    let frames = ex.queue_frames();
    let report = guard.report().frames_post_processor(named(frames)).build().map_err(failed)?;
    report.flamegraph(&mut svg).map_err(failed)?;
    svg.flush().map_err(|error| Failure::unwritable(&options.svg, error))?;
    let profiled = by_profile(&report, QUEUE);
    if profiled.values().sum::<f64>() == 0.0 {
        return Err(Failure::run("not one sample was taken in a queue; ask for more --seconds"));
    }
    let accounts = ex.stats().queues.into_iter().map(|queue| (queue.name, queue.busy.as_nanos() as f64));
    let heads = ["queue", "samples, %", "polls in the timeline, %", "busy, %"];
    let queues = table(heads, &[profiled, by_timeline(&ex), accounts.collect()]);
    let heads = ["group of requests", "samples, %", "busy, %"];
    let groups = table(heads, &[by_profile(&report, GROUP), by_account(&tenants)]);
    let size = fs::metadata(&options.svg).map_or(0, |file| file.len());
    Ok(format!("{queues}\n{groups}\nThe flame graph, {size} bytes: {}\n", options.svg.display()))
}

/// What a service might have: many short polls, few long ones, and a scheduler of its own for the third.
fn queues(ex: &Executor) -> Vec<(Queue, Duration)> {
    let create = |name, share| ex.new_queue(name).share(share);
    let queues = [
        (create("requests", 6).scheduler(FairGroups::new()).create(), 20),
        (create("reports", 3).create(), 200),
        (create("batch", 1).scheduler(Las::new()).create(), 50),
    ];
    let queues = queues.into_iter();
    queues.map(|(queue, us)| (queue.expect("the options are in range"), Duration::from_micros(us))).collect()
}

/// Two tenants of a queue, of whom one has paid for twice as much.
fn tenants(queue: &Queue) -> Vec<Group> {
    let open = |key, name, weight| queue.new_group(key).name(name).weight(weight).open();
    let tenants = [open(1, "acme", 2), open(2, "globex", 1)].into_iter();
    tenants.map(|tenant| tenant.expect("the weights are in range, and the keys new")).collect()
}

/// Tasks that compute and yield, eight of each queue; those of the first queue are its tenants', in turns.
fn run(ex: &Executor, (queues, tenants): (&[(Queue, Duration)], &[Group]), seconds: Duration) {
    let until = Rc::new(Instant::now() + seconds);
    for (nth, (queue, poll)) in queues.iter().flat_map(|queue| std::iter::repeat_n(queue, 8)).enumerate() {
        let (until, poll) = (Rc::clone(&until), *poll);
        let task = async move {
            // From none to twice as long: polls that all take the same keep step with the timer that takes the samples.
            let mut random = Random::new(7, Purpose::Work, poll.as_micros() as u64);
            while Instant::now() < *until {
                compute(random.between(Duration::ZERO, 2 * poll));
                yield_now().await;
            }
        };
        match tenants.get(nth % tenants.len()).filter(|_| nth < 8) {
            Some(tenant) => tenant.spawn(task),
            None => queue.spawn(task),
        };
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

/// Names the frames of queues and groups after them.
fn named(queues: QueueFrames) -> impl Fn(&mut Frames) {
    move |frames| {
        without_inlined(frames);
        let symbols = || frames.frames.iter().flatten().map(|symbol| symbol.name());
        let Some(in_queue) = symbols().find(|name| queues.queue_of(name).is_some()) else { return };
        for symbol in frames.frames.iter_mut().flatten() {
            let name = symbol.name();
            let queue = queues.queue_of(&name).map(|queue| format!("{QUEUE}{queue}"));
            let group = || queues.group_of(&in_queue, &name).map(|group| format!("{GROUP}{group}"));
            if let Some(named) = queue.or_else(group) {
                symbol.name = Some(named.into_bytes());
            }
        }
    }
}

const QUEUE: &str = "queue: ";
const GROUP: &str = "group: ";

/// Samples by the frames with that prefix.
fn by_profile(report: &Report, prefix: &str) -> ByName {
    let mut samples = ByName::new();
    for (frames, count) in &report.data {
        let names = frames.frames.iter().flatten().map(|symbol| symbol.name());
        let found = names.into_iter().find_map(|name| name.strip_prefix(prefix).map(str::to_owned));
        found.into_iter().for_each(|name| *samples.entry(name).or_default() += *count as f64);
    }
    samples
}

fn by_timeline(ex: &Executor) -> ByName {
    let timeline = ex.timeline();
    let mut polls = ByName::new();
    for event in &timeline.events {
        if let EventKind::Polled { task, took, .. } = event.kind {
            let queue = timeline.queue_name(task.queue).unwrap_or("gone").to_owned();
            *polls.entry(queue).or_default() += took.as_nanos() as f64;
        }
    }
    polls
}

/// What the executor has counted for each group.
fn by_account(groups: &[Group]) -> ByName {
    let accounts = groups.iter().map(Group::stats).map(|stats| {
        let name = stats.name.map_or_else(|| stats.key.to_string(), |name| name.to_string());
        (name, stats.busy.unwrap_or_default().as_nanos() as f64)
    });
    accounts.collect()
}

/// The part of each, in percent, in the order of the columns. The last column says which there are.
fn table<const HEADS: usize>(heads: [&str; HEADS], columns: &[ByName]) -> String {
    let part = |column: &ByName, name: &String| {
        let sum: f64 = column.values().sum();
        column.get(name).map_or("–".into(), |part| format!("{:.1}", 100.0 * part / sum))
    };
    let mut rows = vec![heads.map(String::from).to_vec()];
    let names = columns.last().into_iter().flatten().filter(|(_, busy)| **busy > 0.0);
    rows.extend(names.map(|(name, _)| {
        let parts = columns.iter().map(|column| part(column, name));
        std::iter::once(name.clone()).chain(parts).collect()
    }));
    layout(&rows)
}
