//! The command `overhead`: what polls, spawns, wakes, queues, groups, memory and idleness cost, beside other executors.
//!
//! Every section is one or more [measures](measure::Measure), which are run the way `compare` is run: in every *round*
//! each shape is measured once on every arm, in an order shuffled anew, on a fresh executor in a fresh host, and each
//! sample is divided by LocalSet's of the same round and shape. Reported is the median, and of the ratios the median with
//! its 95 % bootstrap interval. A first round is run and not counted.

pub mod arm;
pub mod bars;
pub mod grid;
pub mod measure;
pub mod options;
pub mod report;
pub mod section;
pub mod text;

pub mod groups;
pub mod idle;
pub mod memory;
pub mod polls;
pub mod queues;
pub mod remote;
pub mod spawns;
pub mod storms;
pub mod wakes;

use crate::failure::Failure;
use crate::harness::artefacts::Artefacts;
use crate::harness::facts::{self, Facts};
use crate::json::{self, JsonFile};
use crate::pinning::{Pinning, Side};
use crate::target;
use crate::terminal;

use arm::Arm;
use grid::{Grid, Rounds};
use measure::Measure;
use options::Options;
use report::{Report, SectionReport};
use section::Section;

/// Carries out `overhead`: everything that can be refused is refused before anything is measured.
///
/// # Errors
///
/// If a file cannot be written, or standard output cannot.
pub fn command(options: &Options) -> Result<(), Failure> {
    json::clean_up_on_interrupt()?;
    let file = options.json.as_deref().map(JsonFile::create).transpose()?;
    let folder = options.artefacts.clone().unwrap_or_else(|| target::folder("overhead"));
    let artefacts = Artefacts::create(&folder, options.seed)?;
    let report = run(options);
    let mut printed = Vec::new();
    text::write(&report, &mut printed).expect("writing to memory does not fail");
    let printed = String::from_utf8_lossy(&printed);
    artefacts.write(&report, &printed)?;
    if let Some(file) = file {
        file.commit(&report)?;
    }
    terminal::print_text(&printed)
}

fn run(options: &Options) -> Report {
    let pinning = Pinning::detect();
    let facts = Facts::gather(&pinning, facts::TOKIO);
    pinning.pin(Side::Measured);
    let arms = options.arms();
    let sections: Vec<SectionReport> = options
        .sections()
        .map(|section| SectionReport { section, grids: measure_section(section, &arms, options, &pinning) })
        .collect();
    Report::new(options, facts.completed(), arms, sections)
}

fn measure_section(section: Section, arms: &[Arm], options: &Options, pinning: &Pinning) -> Vec<Grid> {
    let arms = arms.to_vec();
    let quick = options.quick;
    let measures: Vec<Box<dyn Measure>> = match section {
        Section::Polls => {
            vec![
                Box::new(polls::Polls::new(arms.clone(), quick)),
                Box::new(polls::TokioYields::new(arms, quick)),
            ]
        }
        Section::Spawn => vec![Box::new(spawns::Spawns::new(arms, quick))],
        Section::Wake => vec![
            Box::new(wakes::Wakes::new(arms.clone(), quick)),
            Box::new(remote::Remote::new(arms.clone(), quick, pinning.clone())),
            Box::new(storms::Storms::new(arms, quick, pinning.clone())),
        ],
        Section::Queues => vec![Box::new(queues::Queues::new(quick)), Box::new(queues::Turns::new(quick))],
        Section::Groups => vec![
            Box::new(groups::Groups::few_tasks(quick, options.seed)),
            Box::new(groups::Groups::many_tasks(quick, options.seed)),
        ],
        Section::Memory => {
            vec![
                Box::new(memory::Parked::new(arms.clone(), quick)),
                Box::new(memory::Steady::new(arms, quick)),
            ]
        }
        Section::Idle => vec![Box::new(idle::Idle::new(arms, quick, pinning.clone()))],
    };
    measures
        .iter()
        .enumerate()
        .flat_map(|(number, measure)| {
            let part = (section as u64) << 8 | number as u64;
            let rounds = Rounds::new(options.rounds, options.quick, options.seed);
            grid::run(section.title(), part, measure.as_ref(), &rounds)
        })
        .collect()
}
