//! What queues cost: clockworker only, beside itself with one queue.

use std::time::Duration;

use super::measure::{Measure, Topic};
use super::options::Options;
use super::polls::spawn_and_join;
use super::section::Section;
use crate::arms::ManyQueues;
use crate::arms::runner::{Hosted, Runner};
use crate::numbers::grouped;
use crate::stopwatch::{Stopwatch, nanos};
use crate::workload::relay::Relay;
use crate::workload::self_waking::SelfWaking;

const QUEUES: [usize; 6] = [1, 2, 8, 64, 256, 1_024];

/// Tasks in all, dealt out to the queues.
const TASKS: usize = 1_024;

/// A request so small that a turn ends after one poll, though others of the queue are runnable.
const ONE_POLL: Duration = Duration::from_nanos(1);

/// What the queues' tasks do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Load {
    /// All tasks of all queues are runnable throughout.
    AllRunnable,
    /// The same number of tasks, all in the first queue.
    OneRunnable,
    /// One task is runnable, and wakes that of the next queue.
    Churning,
}

const LOADS: [Load; 3] = [Load::AllRunnable, Load::OneRunnable, Load::Churning];

/// The loads under which there is something to pick.
const PICKING: [Load; 2] = [Load::AllRunnable, Load::Churning];

impl Load {
    /// The request at which every turn is one poll.
    fn request(self) -> Duration {
        if self == Load::AllRunnable { ONE_POLL } else { clockworker::DEFAULT_REQUEST }
    }

    fn title(self) -> &'static str {
        match self {
            Load::AllRunnable => "all runnable",
            Load::OneRunnable => "one runnable",
            Load::Churning => "churning",
        }
    }
}

fn yields(options: &Options) -> u32 {
    if options.common.quick { 2 } else { 300 }
}

fn columns() -> impl Iterator<Item = (String, String)> + Clone {
    let title = |queues| format!("{} queue{}", grouped(queues as u64), if queues == 1 { "" } else { "s" });
    QUEUES.into_iter().map(move |queues| (queues.to_string(), title(queues)))
}

/// Nanoseconds per poll at the default request.
pub(super) fn polls(options: &Options) -> Measure {
    let topic = Topic::new(Section::Queues, &[("ns_per_poll", "Queues at the default request: ns per poll")]);
    let yields = yields(options);
    Measure::of_itself(&topic, LOADS.map(Load::title), columns(), move |row, column| {
        let run = Run::new(LOADS[row], QUEUES[column], clockworker::DEFAULT_REQUEST, yields);
        vec![run.time / run.polls]
    })
}

/// Nanoseconds per turn, where every turn is one poll, beyond what the polls cost in one queue.
///
/// This is the choice of a queue with all that belongs to a turn: beginning and ending it, its clock readings, and the way
/// to another queue's memory.
pub(super) fn picks(options: &Options) -> Measure {
    let title = "Queues, turns of one poll: ns per pick (a turn, less its poll in one queue)";
    let (topic, yields) = (Topic::new(Section::Queues, &[("ns_per_pick", title)]), yields(options));
    Measure::of_itself(&topic, PICKING.map(Load::title), columns(), move |row, column| {
        let load = PICKING[row];
        let turns = Run::new(load, QUEUES[column], load.request(), yields);
        let alone = Run::new(load, 1, clockworker::DEFAULT_REQUEST, yields);
        // Where one queue runs alone it goes on with its turn, and there is nothing to pick.
        let picked = turns.turns > turns.polls / 2.0;
        vec![if picked { (turns.time - alone.time) / turns.turns } else { f64::NAN }]
    })
}

/// What one run took.
struct Run {
    time: f64,
    polls: f64,
    turns: f64,
}

impl Run {
    fn new(load: Load, queues: usize, request: Duration, yields: u32) -> Self {
        let host = Hosted::new(ManyQueues::new(queues, request));
        let polls = TASKS as u64 * u64::from(yields);
        let time = match load {
            Load::Churning => churn(&host, polls),
            Load::AllRunnable => nanos(spawn_and_join(&host, TASKS, || SelfWaking::new(yields))),
            Load::OneRunnable => nanos(join_in_first(&host, yields)),
        };
        Run { time, polls: polls as f64, turns: host.contender().turns() as f64 }
    }
}

fn join_in_first(host: &Hosted<ManyQueues>, yields: u32) -> Duration {
    let watch = Stopwatch::start();
    host.block_on(async {
        let handles: Vec<_> = (0..TASKS).map(|_| host.spawn(0, SelfWaking::new(yields))).collect();
        for handle in handles {
            handle.await.expect("a task that only yields does not fail");
        }
    });
    watch.elapsed()
}

/// A token goes through all queues; nothing else is runnable but what it is at.
fn churn(host: &Hosted<ManyQueues>, hops: u64) -> f64 {
    host.block_on(async {
        let relay = Relay::new(TASKS, hops);
        for task in 0..TASKS {
            host.spawn_detached(task, relay.runner());
        }
        relay.ready().await;
        let watch = Stopwatch::start();
        relay.run().await;
        nanos(watch.elapsed())
    })
}
