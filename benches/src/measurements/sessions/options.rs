//! What `sessions` can be asked for.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use clap::{Args, ValueEnum, value_parser};
use serde::{Deserialize, Serialize};

use crate::harness::{Asked, base_and_chosen, chosen, or_default};
use crate::measurements::arm::Arm;

pub type Options = Asked<Own>;

#[derive(Args, Clone, Debug, Serialize, Deserialize)]
#[command(mut_arg("rounds", |arg| arg.help(ROUNDS)))]
pub struct Own {
    /// Run these scenarios only, separated by commas [default: all]
    #[arg(long, value_name = "SCENARIOS", value_enum, value_delimiter = ',')]
    pub only: Vec<Scenario>,

    /// Measure these arms only, separated by commas; LocalSet is always among them [default: all]
    #[arg(long, value_name = "ARMS", value_enum, value_delimiter = ',')]
    pub arms: Vec<Arm>,

    /// Numbers of sessions, separated by commas [default: 10,20,30,1000,10000]
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = value_parser!(u32).range(1..=100_000))]
    pub sessions: Vec<u32>,

    /// Who asks for checkpoints
    #[arg(long, value_enum, default_value_t = Checkpoints::PerSession)]
    pub checkpoints: Checkpoints,

    /// What receivers of an event get
    #[arg(long, value_enum, default_value_t = Sharing::Cloned)]
    pub payload: Sharing,

    /// Dispatch neither clones nor sends an event for receivers that are not there
    #[arg(long)]
    pub skip_unheard: bool,

    /// Shares of the queues CHECKPOINTS:FANOUT:CHURN
    #[arg(long, value_name = "C:F:U", default_value_t = Shares([6, 3, 1]))]
    pub shares: Shares,

    /// What the checkpoints' queue requests, in microseconds
    #[arg(long, value_name = "US", default_value_t = 50, value_parser = value_parser!(u32).range(10..=100_000))]
    pub request: u32,

    /// Events of a session: all of them, or in `burst` in each burst
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = value_parser!(u32).range(1..=10_000))]
    pub events: u32,

    /// Checkpoints of a session; in `burst` there are more if the bursts take longer
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = value_parser!(u32).range(1..=10_000))]
    pub ticks: u32,

    /// Time between two checkpoints of a session, in milliseconds [default: 30, or as many as make 33 checkpoints a millisecond]
    #[arg(long, value_name = "MS", value_parser = value_parser!(u32).range(2..=60_000))]
    pub period: Option<u32>,

    /// `burst`: bursts, two periods apart [default: 8, or those that 12,000 events make, but one at the least]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=1_000))]
    pub bursts: Option<u32>,

    /// Events that the channel of all sessions holds for slow receivers [default: all there are, so that no arm is let off any]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=16_777_216))]
    pub capacity: Option<u32>,
}

const ROUNDS: &str = "Rounds, in each of which every arm has the same sessions [default: 8, or 3 from 1,000 sessions on, eight minutes in all]";

/// Milliseconds.
const USUAL_PERIOD: u32 = 30;

const SESSIONS: [u32; 5] = [10, 20, 30, 1_000, 10_000];
const QUICK_SESSIONS: [u32; 2] = [10, 30];

/// A part of the command, which can be run by itself. They run in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
#[value(rename_all = "snake_case")]
pub enum Scenario {
    /// Checkpoints only
    CheckpointOverhead,
    /// Events at a steady pace, with a client that listens to all sessions
    FanoutOverhead,
    /// Clients that subscribe and go
    SubscriptionLifecycleChurn,
    /// All at once: bursts of events to clients of each session and of all, checkpoints, and clients that come and go
    Burst,
}

/// Who asks for checkpoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
#[value(rename_all = "snake_case")]
pub enum Checkpoints {
    /// A task of each session
    PerSession,
    /// One task for all sessions
    Shared,
}

/// What receivers of an event get.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Sharing {
    /// A copy for each
    Cloned,
    /// One `Rc` for all
    Shared,
}

/// Shares of the queues for checkpoints, fan-out and churn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shares(pub [u32; 3]);

/// The largest share that can be asked for.
const LARGEST: u32 = 10_000;

impl fmt::Display for Shares {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [checkpoints, fanout, churn] = self.0;
        write!(f, "{checkpoints}:{fanout}:{churn}")
    }
}

impl FromStr for Shares {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let share = |part: &str| part.parse().ok().filter(|share| (1..=LARGEST).contains(share));
        let shares: Option<Vec<u32>> = text.split(':').map(share).collect();
        let shares = shares.and_then(|shares| shares.try_into().ok()).map(Shares);
        shares.ok_or_else(|| format!("three numbers from 1 to {LARGEST}, as in 6:3:1, are wanted"))
    }
}

impl Options {
    pub(super) fn scenarios(&self) -> impl Iterator<Item = Scenario> {
        chosen(&self.only, Scenario::value_variants())
    }

    pub(super) fn sessions(&self) -> Vec<u32> {
        or_default(&self.sessions, if self.common.quick { &QUICK_SESSIONS } else { &SESSIONS })
    }

    /// Time between two checkpoints of one of so many sessions. With 10,000 each 30 ms the thread would have nothing else to do.
    pub(super) fn period(&self, sessions: u32) -> Duration {
        let usual = (sessions * USUAL_PERIOD / 1_000).max(USUAL_PERIOD);
        Duration::from_millis(self.period.unwrap_or(usual).into())
    }

    /// LocalSet twice, and the others.
    pub(super) fn arms(&self) -> Vec<Arm> {
        base_and_chosen(Arm::LocalSet, &self.arms, Arm::value_variants())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_read_as_they_are_written() {
        assert_eq!("12:6:2".parse::<Shares>().map(|shares| shares.to_string()), Ok("12:6:2".to_owned()));
        for wrong in ["", "6:3", "6:3:0", "6:3:1:1", "6:3:x", "6:3:10001", "6:3:-1"] {
            assert!(wrong.parse::<Shares>().unwrap_err().contains("6:3:1"), "{wrong}");
        }
    }
}
