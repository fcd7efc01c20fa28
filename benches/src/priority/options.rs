//! What `priority` can be asked for.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, value_parser};

use super::scene::{Scene, Section};
use crate::beside::trial::Timing;

/// Lengths of the background's polls, in microseconds. Sections other than `shares` have the middle one.
const POLLS: [u32; 3] = [20, 100, 500];
const USUAL_POLL: u32 = 100;

/// Rounds of a scene, unless the command line says otherwise.
const ROUNDS: u32 = 10;
const QUICK_ROUNDS: u32 = 2;

const TIMING: Timing = Timing { warm_up: Duration::from_millis(250), counted: Duration::from_secs(2) };
const QUICK_TIMING: Timing =
    Timing { warm_up: Duration::from_millis(20), counted: Duration::from_millis(80) };

/// What to measure, and how long.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// A run of seconds through the same code: shows that everything works, measures nothing
    #[arg(long)]
    pub quick: bool,

    /// Run these sections only, separated by commas [default: all]
    #[arg(long, value_name = "SECTIONS", value_enum, value_delimiter = ',')]
    pub only: Vec<Section>,

    /// Lengths of the background's polls in microseconds, separated by commas [default: 20,100,500; 100 but for `shares`]
    #[arg(long, value_name = "US", value_delimiter = ',', value_parser = value_parser!(u32).range(1..=100_000))]
    pub polls: Vec<u32>,

    /// Rounds, in each of which every arm gets the same schedule [default: 10, ten minutes for all sections]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(2..=10_000))]
    pub rounds: Option<u32>,

    /// Where every random choice starts: arrivals, the order of the arms, resampling
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,

    /// Write the results, the distributions and the facts of the machine to FILE as JSON
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

impl Options {
    /// What is to be measured, in order.
    pub fn scenes(&self) -> Vec<Scene> {
        let wanted = |section: &Section| self.only.is_empty() || self.only.contains(section);
        let scene = |section, poll: &u32| Scene::of(section, Duration::from_micros(u64::from(*poll)));
        let sections = Section::ALL.into_iter().filter(wanted);
        sections
            .flat_map(|section| self.polls(section).iter().map(move |poll| scene(section, poll)))
            .collect()
    }

    fn polls(&self, section: Section) -> &[u32] {
        match (self.polls.as_slice(), section) {
            ([], Section::Shares) => &POLLS,
            ([], _) => &[USUAL_POLL],
            (named, _) => named,
        }
    }

    /// How often each arm is measured in a scene.
    pub fn rounds(&self) -> u32 {
        self.rounds.unwrap_or(if self.quick { QUICK_ROUNDS } else { ROUNDS })
    }

    /// How long each arm is measured in a round.
    pub fn timing(&self) -> Timing {
        if self.quick { QUICK_TIMING } else { TIMING }
    }
}
