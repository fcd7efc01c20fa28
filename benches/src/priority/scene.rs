//! What is measured together: a foreground, a background, and the arms that serve them.

use std::time::Duration;

use clap::ValueEnum;
use serde::Serialize;

use super::arm::Arm;
use crate::beside::loops::{Background, Rest};
use crate::workload::arrivals::Pattern;

/// A part of the command, which can be run by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Section {
    /// Shares 99:1, 9:1 and 1:1 beside a background that always has work
    Shares,
    /// A light foreground with a share of a tenth, whose small request has it served soon
    Request,
    /// Shares 99:1, 9:1 and 1:1 beside the background of `compare`, which sleeps after each poll
    Sleeping,
}

impl Section {
    /// Every section, in the order in which they run.
    pub const ALL: [Section; 3] = [Section::Shares, Section::Request, Section::Sleeping];
}

/// Background tasks.
const TASKS: usize = 8;

/// How long they sleep where they do.
const NAP: Duration = Duration::from_micros(100);

/// One short task each two milliseconds: a fortieth of a core, where its share is a tenth.
const LIGHT: Pattern = Pattern {
    mean_gap: Duration::from_millis(2),
    segments: (1, 1),
    shortest: Duration::from_micros(20),
    longest: Duration::from_micros(80),
};

/// The request of a queue that is to be served soon.
const SMALL_REQUEST: Duration = Duration::from_micros(50);

/// What is measured together.
#[derive(Clone, Debug)]
pub struct Scene {
    /// The section it belongs to.
    pub section: Section,
    /// What arrives in the foreground.
    pub foreground: Pattern,
    /// What the background does.
    pub background: Background,
    /// Who serves both: first the foreground alone, then LocalSet.
    pub arms: Vec<Arm>,
}

impl Scene {
    /// The scene of a section beside a background of such polls.
    pub fn of(section: Section, poll: Duration) -> Self {
        let shares = |foreground, background| Arm::Shares { foreground, background };
        let usual = [shares(99, 1), shares(9, 1), shares(1, 1)];
        let request = |foreground| Arm::Requests { foreground };
        let by_request = [shares(99, 1), request(clockworker::DEFAULT_REQUEST), request(SMALL_REQUEST)];
        let (foreground, rest, arms) = match section {
            Section::Shares => (Pattern::USUAL, Rest::Yield, usual),
            Section::Sleeping => (Pattern::USUAL, Rest::Sleep(NAP), usual),
            Section::Request => (LIGHT, Rest::Yield, by_request),
        };
        let arms = [Arm::ForegroundOnly, Arm::LocalSet].into_iter().chain(arms).collect();
        Scene { section, foreground, background: Background { tasks: TASKS, poll, rest }, arms }
    }

    /// The heading.
    pub fn title(&self) -> String {
        let poll = self.background.poll.as_micros();
        match self.section {
            Section::Shares => format!("Beside polls of {poll} µs that never end"),
            Section::Sleeping => format!("Beside polls of {poll} µs and sleeps of {} µs", NAP.as_micros()),
            Section::Request => {
                format!("Short tasks at a share of a tenth, beside polls of {poll} µs that never end")
            }
        }
    }
}
