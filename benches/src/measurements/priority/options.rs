//! What `priority` can be asked for.

use std::time::Duration;

use clap::{Args, ValueEnum, value_parser};
use serde::{Deserialize, Serialize};

use crate::beside::trial::Timing;
use crate::harness::{Asked, chosen, or_default};

/// Lengths of the background's polls, in microseconds. Sections other than `shares` have the middle one.
const POLLS: [u32; 3] = [20, 100, 500];
const USUAL_POLL: u32 = 100;

pub type Options = Asked<Own>;

#[derive(Args, Clone, Debug, Serialize, Deserialize)]
#[command(mut_arg("rounds", |arg| arg.help(ROUNDS)))]
pub struct Own {
    /// Run these sections only, separated by commas [default: all]
    #[arg(long, value_name = "SECTIONS", value_enum, value_delimiter = ',')]
    pub only: Vec<Section>,

    /// Lengths of the background's polls in microseconds, separated by commas [default: 20,100,500; 100 but for `shares`]
    #[arg(long, value_name = "US", value_delimiter = ',', value_parser = value_parser!(u32).range(1..=100_000))]
    pub polls: Vec<u32>,
}

const ROUNDS: &str = "Rounds, in each of which every arm gets the same schedule [default: 10, a quarter of an hour for all sections]";

/// A part of the command, which can be run by itself. They run in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Section {
    /// Shares 99:1, 9:1 and 1:1 beside a background that always has work
    Shares,
    /// A light foreground with a share of a tenth, whose small request has it served soon
    Request,
    /// Shares 99:1, 9:1 and 1:1 beside the background of `compare`, which sleeps after each poll
    Sleeping,
}

impl Options {
    /// What is to be measured, in order: sections with the length of the background's polls.
    pub(super) fn scenes(&self) -> Vec<(Section, Duration)> {
        let sections = chosen(&self.only, Section::value_variants());
        let of_section = |section| {
            let usual = if section == Section::Shares { &POLLS[..] } else { &[USUAL_POLL] };
            let polls = or_default(&self.polls, usual).into_iter();
            polls.map(move |poll| (section, Duration::from_micros(poll.into())))
        };
        sections.flat_map(of_section).collect()
    }

    /// How long each arm is measured in a round.
    pub(super) fn timing(&self) -> Timing {
        if self.common.quick { Timing::of_millis(20, 80) } else { Timing::of_millis(250, 2_000) }
    }
}
