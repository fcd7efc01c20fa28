//! What `tcp` can be asked for.

use clap::{Args, ValueEnum, value_parser};
use serde::{Deserialize, Serialize};

use crate::harness::{Asked, chosen, or_default};
use crate::serving::host::Host;

pub type Options = Asked<Own>;

#[derive(Args, Clone, Debug, Serialize, Deserialize)]
#[command(after_long_help = AFTER_HELP, mut_arg("rounds", |arg| arg.help(ROUNDS)))]
pub struct Own {
    /// Run these sections only, separated by commas [default: plain]
    #[arg(long, value_name = "SECTIONS", value_enum, value_delimiter = ',')]
    pub only: Vec<Section>,

    /// Servers on these hosts only, separated by commas [default: monoio and tokio]
    #[arg(long, value_name = "HOSTS", value_enum, value_delimiter = ',')]
    pub hosts: Vec<Host>,

    /// Numbers of connections, separated by commas [default: 1,64,100; beside a background 64]
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', value_parser = value_parser!(u32).range(1..=10_000))]
    pub connections: Vec<u32>,

    /// Bytes in a message, separated by commas [default: 1024]
    #[arg(long, value_name = "BYTES", value_delimiter = ',', value_parser = value_parser!(u32).range(1..=65_536))]
    pub sizes: Vec<u32>,

    /// Rates of the open loops, in percent of what the slowest arm does in a closed loop (beside a background: of what a
    /// server without one does), separated by commas [default: 50,70; beside a background 50]
    #[arg(long, value_name = "PERCENT", value_delimiter = ',', value_parser = value_parser!(u32).range(1..=200))]
    pub loads: Vec<u32>,

    /// Host budgets for the section `budgets`, in microseconds, separated by commas [default: 20 to 2,000]
    #[arg(long, value_name = "MICROS", value_delimiter = ',', value_parser = value_parser!(u32).range(0..=1_000_000))]
    pub budgets: Vec<u32>,

    /// CPU time of the background's polls, in microseconds: a number, or the shortest and the longest as 20-100; several of
    /// these, separated by commas [default: 20-100; in the section budgets 5,20-100]
    #[arg(long, value_name = "MICROS", value_delimiter = ',', value_parser = poll_lengths)]
    pub polls: Vec<(u32, u32)>,

    /// The share of clockworker's queue of connections, where the background's is 1
    #[arg(long, value_name = "N", default_value_t = 9, value_parser = value_parser!(u32).range(1..=1_000_000))]
    pub foreground_share: u32,

    /// Let the background's tasks wake themselves, not each other in pairs: on monoio that starves what was plainly spawned
    #[arg(long)]
    pub self_waking: bool,

    /// The length of a window, in milliseconds; there are four per round, arm and loop [default: 60; beside a background
    /// 120]
    #[arg(long, value_name = "MILLIS", value_parser = value_parser!(u32).range(5..=60_000))]
    pub window: Option<u32>,
}

const ROUNDS: &str =
    "Rounds of every cell, however long they take [default: 40, or fewer where they take over 80 s]";

const AFTER_HELP: &str = "\
Without options: monoio and tokio, 1, 64 and 100 connections, 1 KiB, which takes some eight minutes and is judged.
Everything: --only plain,background,budgets --hosts monoio,tokio,smol --connections 1,64,100,1000 --sizes 64,1024,4096";

/// A part of the measurement, which can be run by itself, in the order in which they run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Section {
    /// The server alone: native spawn, and clockworker
    Plain,
    /// The same beside a background that would take all of the thread
    Background,
    /// Clockworker beside that background, at one host budget after another
    Budgets,
}

const BUDGETS: [u32; 7] = [20, 50, 100, 200, 500, 1_000, 2_000];

/// The longest poll of the background that can be asked for, in microseconds.
const LONGEST_POLL: u32 = 100_000;

/// Reads `20` or `20-100`.
fn poll_lengths(text: &str) -> Result<(u32, u32), String> {
    let (shortest, longest) = text.split_once('-').unwrap_or((text, text));
    let micros = |text: &str| text.parse().ok().filter(|micros| (1..=LONGEST_POLL).contains(micros));
    match (micros(shortest), micros(longest)) {
        (Some(shortest), Some(longest)) if shortest <= longest => Ok((shortest, longest)),
        _ => Err(format!("neither a number from 1 to {LONGEST_POLL} nor a range such as 20-100")),
    }
}

impl Options {
    pub(super) fn sections(&self) -> impl Iterator<Item = Section> {
        let default = if self.common.quick { Section::value_variants() } else { &[Section::Plain] };
        chosen(&self.only, default)
    }

    pub(super) fn hosts(&self) -> impl Iterator<Item = Host> {
        let wanted = |host: &Host| match self.hosts[..] {
            [] => self.common.quick || *host != Host::Smol,
            _ => self.hosts.contains(host),
        };
        Host::value_variants().iter().copied().filter(wanted)
    }

    /// The host budgets to try, in microseconds.
    pub(super) fn budgets(&self) -> Vec<u32> {
        let default = if self.common.quick { &BUDGETS[2..4] } else { &BUDGETS };
        or_default(&self.budgets, default)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polls_are_numbers_and_ranges() {
        assert_eq!((poll_lengths("5"), poll_lengths("20-100")), (Ok((5, 5)), Ok((20, 100))));
        for nonsense in ["", "0", "7-5", "5-", "x", "1-2-3", "100001"] {
            assert!(poll_lengths(nonsense).is_err(), "{nonsense}");
        }
    }
}
