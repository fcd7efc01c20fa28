//! The command `sessions`: a manager of agents' sessions, with checkpoints, fan-out of events, and clients that come and go.
//!
//! It is modelled on a report of such a manager, whose metrics and scenarios it has by name (docs/WORKLOADS.md). The program is
//! written as one writes it for a LocalSet, and is the same on every executor; with queues, each task is spawned into one.
//!
//! - `checkpoint_overhead`, `fanout_overhead`, `subscription_lifecycle_churn`: one concern each, as in the report.
//! - `burst`: all at once. Bursts of events must not delay checkpoints.

mod chapter;
mod counters;
mod event;
mod manager;
pub mod options;
pub(crate) mod queues;
mod scene;
mod tasks;
#[cfg(test)]
mod tests;
pub(crate) mod world;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::harness::{Cell, Common, Measurement, Pinning, Plan, Report, options_of};
use crate::page::Chapter;
use crate::stats::{Bar, Conclusion};

use options::{Options, Scenario};
use queues::Setup;
use world::{Found, World};

pub(crate) struct Sessions;

#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Shape {
    scenario: Scenario,
    sessions: u32,
}

impl Measurement for Sessions {
    type Options = Options;
    type Shape = Shape;

    const NAME: &'static str = "sessions";
    const SCHEMA: &'static str = "clockworker-sessions";
    const SCHEMA_VERSION: u32 = 1;
    const QUESTION: &'static str =
        "Do a session manager's checkpoints run on time, whatever its sessions say?";
    const CHAPTER: fn(&Report<Self>) -> Chapter = chapter::of;

    fn plan(options: &Options, _pinning: &Pinning) -> Result<Plan<Shape>, Failure> {
        let sessions = options.sessions();
        let of_scenario = |scenario| sessions.iter().map(move |&sessions| (scenario, sessions));
        let parts = options.scenarios().flat_map(of_scenario);
        Ok(parts
            .map(|(scenario, sessions)| Box::new(scene::part(scenario, sessions, options)) as _)
            .collect())
    }

    fn bars(options: &Options, cells: &[Cell<Shape>]) -> Vec<Conclusion> {
        cells.iter().flat_map(|cell| conclusions(cell, options.common.seed)).collect()
    }
}

/// A scenario of that name as it comes, with so many sessions, for `budgets`.
pub(crate) fn usual(scenario: &str, sessions: u32, common: &Common) -> (World, Setup) {
    let scenario = Scenario::from_str(scenario, false).expect("there is such a scenario");
    let options = options_of("").expect("every option has a default");
    scene::set_up(scenario, sessions, &Options { common: common.clone(), ..options })
}

/// What a seed decides of a run, whoever runs it: counters by name, and the bytes that clients got.
pub(crate) fn decided(found: &Found) -> String {
    let counters = found.counters.decided().into_iter();
    let counters: String = counters.map(|(name, count)| format!("{name} {count}\n")).collect();
    format!("{counters}{} {}\n", scene::DELIVERED, found.written)
}

/// Where checkpoints are to be on time.
const JUDGED: [u32; 2] = [30, 10_000];

const LATE_P99: &str = "checkpoint_late_ns.p99";

fn conclusions(cell: &Cell<Shape>, seed: u64) -> Vec<Conclusion> {
    let named = |arm: &str, what: &str| {
        let title = cell.arm(arm).map_or("", |arm| &arm.title);
        format!("{}, {title}: {what}", cell.title)
    };
    let ratio = |arm, figure, what, bar| cell.conclude(arm, figure, named(arm, what), bar);
    match cell.shape.scenario {
        Scenario::Burst => {
            let bar = JUDGED.contains(&cell.shape.sessions).then_some(Bar::AtMost(0.2));
            let late = ratio("queues", LATE_P99, "checkpoints' p99 lateness ÷ LocalSet's", bar);
            let elapsed = ratio("queues", scene::ELAPSED, "time until all is done ÷ LocalSet's", None);
            [late, elapsed].into_iter().flatten().collect()
        }
        Scenario::FanoutOverhead => {
            let of_arm = |arm| {
                let value = cell.estimate(cell.arm(arm)?, scene::SKIPPED_BY_SENT, seed)?;
                let what = "dispatch without unheard events ÷ with them";
                Some(Conclusion::new(named(arm, what), value, cell.interval, None))
            };
            ["local_set", "queues"].into_iter().filter_map(of_arm).collect()
        }
        _ => Vec::new(),
    }
}
