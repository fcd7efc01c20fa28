//! The command `overhead`: what polls, spawns, wakes, queues, groups, memory and idleness cost, beside other executors.
//!
//! Every section is one or more measures, each an experiment of its own. A sample is taken on a fresh executor in
//! a fresh host.

pub mod arm;
pub(crate) mod chapter;
pub(crate) mod measure;
pub mod options;

mod itself;
pub mod tasks;
mod waiting;
mod wakes;

use std::path::PathBuf;

use crate::failure::Failure;
use crate::harness::{Cell, Measurement, Pinning, Plan, Report, target};
use crate::page::Chapter;
use crate::stats::{self, Bar, Conclusion, Interval};

use itself::{FEW_TASKS, IN_A_SET, TASK_OF_A_SET};
use measure::{Measure, Topic};
use options::{Options, Section};

pub(crate) struct Overhead;

impl Measurement for Overhead {
    type Options = Options;
    type Shape = Topic;

    const NAME: &'static str = "overhead";
    const SCHEMA: &'static str = "clockworker-overhead";
    const QUESTION: &'static str =
        "What do polls, spawns, wakes, queues, memory and idleness cost, beside a dozen other executors?";
    const CHAPTER: fn(&Report<Self>) -> Chapter = chapter::of;

    fn plan(options: &Options, pinning: &Pinning) -> Result<Plan<Topic>, Failure> {
        let measures = options.sections().flat_map(|section| measures(section, options, pinning));
        Ok(measures.map(|measure| Box::new(measure) as _).collect())
    }

    fn artefacts(options: &Options) -> Option<PathBuf> {
        Some(options.artefacts.clone().unwrap_or_else(|| target::folder(Self::NAME)))
    }

    fn bars(options: &Options, cells: &[Cell<Topic>]) -> Vec<Conclusion> {
        let seed = options.common.seed;
        let growths = [(WOKEN_FIRST, Some(Bar::AtMost(3.0))), ("local_set", None)];
        let growths = growths.into_iter().filter_map(|(arm, bar)| growth(cells, arm, bar, seed));
        let ruled = RULES
            .iter()
            .flat_map(|rule| table(cells, rule.0, rule.1).filter_map(move |cell| conclude(cell, rule, seed)));
        growths.chain(ruled).collect()
    }
}

fn measures(section: Section, options: &Options, pinning: &Pinning) -> Vec<Measure> {
    match section {
        Section::Polls => vec![tasks::polls(options), tasks::tokio_yields(options)],
        Section::Spawn => vec![tasks::spawns(options), itself::sets(options)],
        Section::Wake => {
            vec![wakes::local(options), wakes::remote(options, pinning), wakes::storms(options, pinning)]
        }
        Section::Queues => vec![itself::polls(options), itself::picks(options)],
        Section::Groups => itself::groups(options).into(),
        Section::Memory => vec![waiting::parked(options), waiting::steady(options)],
        Section::Idle => vec![waiting::idle(options, pinning)],
    }
}

const WOKEN_FIRST: &str = "woken_first";

#[derive(Clone, Copy)]
enum Judged {
    Ratio,
    Value,
    EveryValue,
}

use Judged::{EveryValue, Ratio, Value};

const PARKED: &str = "Bytes per parked task beyond the future ÷ LocalSet's";
const SENDER: &str = "Wake from another thread, the sender's time, # ÷ LocalSet's";
const WAKE: &str = "Wake from another thread until the poll, p50, # ÷ LocalSet's";

/// A section, a quantity of its cells, the arm, what is judged, its name (`#` is the cell's title), and the most it may be.
type Rule = (Section, &'static str, &'static str, Judged, &'static str, f64);

const RULES: [Rule; 9] = [
    (Section::Queues, "ns_per_pick", "64", Value, "ns per pick, 64 queues, #", 30.0),
    (Section::Queues, "ns_per_pick", "1024", Value, "ns per pick, 1,024 queues, #", 100.0),
    (Section::Spawn, TASK_OF_A_SET, IN_A_SET, Ratio, "Time per task, JoinSet ÷ join handles, #", 1.5),
    // Up to 10,000 groups.
    (Section::Groups, FEW_TASKS, "10000", Ratio, "Time per poll, #, 10,000 groups ÷ 1", 1.25),
    (Section::Memory, "allocations", WOKEN_FIRST, EveryValue, "Allocations #", 0.0),
    (Section::Idle, "host_polls", WOKEN_FIRST, EveryValue, "Host polls in an idle second", 0.0),
    (Section::Memory, "bytes_per_task", WOKEN_FIRST, Ratio, PARKED, 1.0),
    (Section::Wake, "remote_wake_sender_ns", WOKEN_FIRST, Ratio, SENDER, 1.0),
    (Section::Wake, "remote_wake_p50_ns", WOKEN_FIRST, Ratio, WAKE, 1.0),
];

fn table<'a>(
    cells: &'a [Cell<Topic>],
    section: Section,
    key: &'a str,
) -> impl Iterator<Item = &'a Cell<Topic>> {
    let is_in = move |topic: &Topic| {
        topic.section == section && topic.quantities.iter().any(|quantity| quantity.key == key)
    };
    cells.iter().filter(move |cell| is_in(&cell.shape))
}

fn growth(cells: &[Cell<Topic>], arm: &str, bar: Option<Bar>, seed: u64) -> Option<Conclusion> {
    let key = "ns_per_poll";
    let samples = |place| Some(table(cells, Section::Polls, key).nth(place)?.arm(arm)?.samples(key));
    let value = stats::paired_by_seed(samples(4)?, samples(2)?, seed)?;
    let quantity = format!("Time per poll, {arm}, 1,000,000 tasks ÷ 1,000");
    Some(Conclusion::new(quantity, value, Interval::Confidence95, bar))
}

fn conclude(cell: &Cell<Topic>, rule: &Rule, seed: u64) -> Option<Conclusion> {
    let &(_, key, arm, judged, name, most) = rule;
    let (quantity, bar) = (name.replace('#', &cell.title), Some(Bar::AtMost(most)));
    let samples = cell.arm(arm)?.samples(key);
    match judged {
        Ratio => cell.conclude(arm, key, quantity, bar),
        Value => {
            let value = stats::estimated_by_seed(samples, seed)?;
            Some(Conclusion::new(quantity, value, Interval::Confidence95, bar))
        }
        EveryValue if samples.is_empty() => None,
        EveryValue => {
            let value = stats::median_and_range(samples);
            Some(Conclusion::new(quantity, value, Interval::RangeOfRepetitions, bar))
        }
    }
}
