//! The command `overhead`: what polls, spawns, wakes, queues, groups, memory and idleness cost, beside other executors.
//!
//! Every section is one or more [measures](measure), each an experiment of its own. A sample is taken on a fresh executor in
//! a fresh host.

pub mod arm;
mod bars;
pub(crate) mod chapter;
pub(crate) mod measure;
pub mod options;

mod itself;
pub mod tasks;
mod waiting;
mod wakes;

use std::path::PathBuf;

use crate::failure::Failure;
use crate::harness::measurement::{Measurement, Plan};
use crate::harness::pinning::Pinning;
use crate::harness::report::{Cell, Report};
use crate::harness::target;
use crate::page::model::Chapter;
use crate::stats::conclusion::Conclusion;

use measure::{Measure, Topic};
use options::{Options, Section};

pub(crate) struct Overhead;

impl Measurement for Overhead {
    type Options = Options;
    type Shape = Topic;

    const NAME: &'static str = "overhead";
    const SCHEMA: &'static str = "clockworker-overhead";
    const SCHEMA_VERSION: u32 = 2;
    const QUESTION: &'static str =
        "What do polls, spawns, wakes, queues, memory and idleness cost, beside a dozen other executors?";

    fn plan(options: &Options, pinning: &Pinning) -> Result<Plan<Topic>, Failure> {
        let measures = options.sections().flat_map(|section| measures(section, options, pinning));
        Ok(measures.map(|measure| Box::new(measure) as _).collect())
    }

    fn artefacts(options: &Options) -> Option<PathBuf> {
        Some(options.artefacts.clone().unwrap_or_else(|| target::folder(Self::NAME)))
    }

    fn bars(options: &Options, cells: &[Cell<Topic>]) -> Vec<Conclusion> {
        bars::of(cells, options.common.seed)
    }

    fn chapter(report: &Report<Self>) -> Chapter {
        chapter::of(report)
    }
}

fn measures(section: Section, options: &Options, pinning: &Pinning) -> Vec<Measure<Topic>> {
    match section {
        Section::Polls => vec![tasks::polls(options), tasks::tokio_yields(options)],
        Section::Spawn => vec![tasks::spawns(options)],
        Section::Wake => {
            vec![wakes::local(options), wakes::remote(options, pinning), wakes::storms(options, pinning)]
        }
        Section::Queues => vec![itself::polls(options), itself::picks(options)],
        Section::Groups => vec![itself::few_tasks(options), itself::many_tasks(options)],
        Section::Memory => vec![waiting::parked(options), waiting::steady(options)],
        Section::Idle => vec![waiting::idle(options, pinning)],
    }
}
