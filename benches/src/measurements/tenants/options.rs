//! What `tenants` can be asked for.

use std::time::Duration;

use clap::{Args, ValueEnum, value_parser};
use serde::{Deserialize, Serialize};

use super::arm::Arm;
use crate::harness::{Asked, base_and_chosen, chosen, or_default};

pub type Options = Asked<Own>;

#[derive(Args, Clone, Debug, Serialize, Deserialize)]
#[command(mut_arg("rounds", |arg| arg.help(ROUNDS)))]
pub struct Own {
    /// Run these scenes only, separated by commas [default: all]
    #[arg(long, value_name = "SCENES", value_enum, value_delimiter = ',')]
    pub only: Vec<Scene>,

    /// Measure these arms only, separated by commas; LocalSet is always among them [default: all]
    #[arg(long, value_name = "ARMS", value_enum, value_delimiter = ',')]
    pub arms: Vec<Arm>,

    /// `arrivals`: numbers of tenants, separated by commas [default: 10,1000,100000]
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = value_parser!(u32).range(1..=1_000_000))]
    pub tenants: Vec<u32>,

    /// `arrivals`: utilisation in percent
    #[arg(long, value_name = "PERCENT", default_value_t = 80, value_parser = value_parser!(u32).range(1..=99))]
    pub load: u32,

    /// `history`: how long the first tenant has the thread for itself, in milliseconds [default: 1000]
    #[arg(long, value_name = "MS", value_parser = value_parser!(u32).range(1..=600_000))]
    pub alone: Option<u32>,
}

const ROUNDS: &str = "Rounds, in each of which every arm has the same work [default: 8 of `flood`, 2 to 4 of the others, three minutes in all]";

const TENANTS: [u32; 3] = [10, 1_000, 100_000];

/// A part of the command, which can be run by itself. They run in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Scene {
    /// Ten quiet tenants, alone and beside one of a thousand tasks that always have work
    Flood,
    /// Jobs of many tenants, uniform and by Zipf's law, as they arrive
    Arrivals,
    /// A tenant that was alone for long, and one that comes
    History,
    /// A tenant whose task ends and comes again every few polls, beside ten that stay
    Visitor,
    /// Tenants of short polls and of long ones, which always have work, and one with a long request now and then
    Unlike,
    /// Queues that always have work: what each gets of its share
    Shares,
    /// A queue with a cap, alone and beside another
    Cap,
}

impl Scene {
    /// Its rounds, unless `--rounds` says otherwise. All but those of the flood tell about the same each time.
    pub(super) fn rounds(self) -> u32 {
        match self {
            Scene::Flood => 8,
            Scene::Visitor | Scene::Unlike | Scene::Shares => 4,
            Scene::History => 3,
            Scene::Arrivals | Scene::Cap => 2,
        }
    }
}

impl Options {
    pub(super) fn scenes(&self) -> impl Iterator<Item = Scene> {
        chosen(&self.only, Scene::value_variants())
    }

    pub(super) fn tenants(&self) -> Vec<u32> {
        or_default(&self.tenants, if self.common.quick { &TENANTS[..2] } else { &TENANTS })
    }

    /// The arms of a scene of tenants: LocalSet twice, and FairGroups where it is to be compared with itself.
    pub(super) fn arms(&self, scene: Scene) -> Vec<Arm> {
        let mut arms = base_and_chosen(Arm::LocalSet, &self.arms, Arm::value_variants());
        arms.retain(|arm| arm.is_in(scene));
        if let Some(fair) = arms.iter().position(|arm| *arm == Arm::FairGroups && scene == Scene::Flood) {
            arms.insert(fair, Arm::FairGroups);
        }
        arms
    }

    /// So many milliseconds of a sample, or in a quick run a few of them.
    pub(super) fn window(&self, millis: u64) -> Duration {
        Duration::from_millis(if self.common.quick { millis.min(25) } else { millis })
    }

    pub(super) fn alone(&self) -> Duration {
        self.alone.map_or_else(|| self.window(1_000), |millis| Duration::from_millis(millis.into()))
    }
}
