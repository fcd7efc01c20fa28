//! The command `overhead`: what polls, spawns, wakes, queues, groups, memory and idleness cost, beside other executors.
//!
//! Every section is one or more [measures](measure), each an experiment of its own. A sample is taken on a fresh executor in
//! a fresh host.

pub mod arm;
pub mod bars;
pub mod chapter;
pub mod measure;
pub mod options;
pub mod section;

pub mod groups;
pub mod idle;
pub mod memory;
pub mod polls;
pub mod queues;
pub mod remote;
pub mod spawns;
pub mod storms;
mod waker_slot;
pub mod wakes;

use std::path::PathBuf;

use crate::failure::Failure;
use crate::harness::measurement::{Measurement, Plan};
use crate::harness::pinning::Pinning;
use crate::harness::report::{Cell, Report};
use crate::harness::target;
use crate::page::model::Chapter;
use crate::stats::conclusion::Conclusion;

use measure::{Measure, Topic};
use options::Options;
use section::Section;

/// The measurement `overhead`.
#[derive(Debug)]
pub struct Overhead;

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

fn measures(section: Section, options: &Options, pinning: &Pinning) -> Vec<Measure> {
    match section {
        Section::Polls => vec![polls::polls(options), polls::tokio_yields(options)],
        Section::Spawn => vec![spawns::measure(options)],
        Section::Wake => {
            vec![
                wakes::measure(options),
                remote::measure(options, pinning),
                storms::measure(options, pinning),
            ]
        }
        Section::Queues => vec![queues::polls(options), queues::picks(options)],
        Section::Groups => vec![groups::few_tasks(options), groups::many_tasks(options)],
        Section::Memory => vec![memory::parked(options), memory::steady(options)],
        Section::Idle => vec![idle::measure(options, pinning)],
    }
}
