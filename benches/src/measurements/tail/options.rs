//! What `tail` can be asked for.

use std::time::Duration;

use clap::{Args, ValueEnum, value_parser};
use serde::{Deserialize, Serialize};

use super::schedule::Service;
use crate::harness::{Asked, or_default};

/// Utilisations of the grid, in percent.
const GRID_LOADS: [u32; 4] = [50, 70, 90, 95];

const QUICK_WINDOW: Duration = Duration::from_millis(40);

pub type Options = Asked<Own>;

#[derive(Args, Clone, Debug, Serialize, Deserialize)]
#[command(mut_arg("rounds", |arg| arg.help(ROUNDS)))]
pub struct Own {
    /// Service times, separated by commas [default: pareto]
    #[arg(long, value_name = "NAMES", value_enum, value_delimiter = ',')]
    pub service: Vec<Service>,

    /// Utilisations in percent, separated by commas [default: 90]
    #[arg(long, value_name = "PERCENT", value_delimiter = ',', value_parser = value_parser!(u32).range(1..=99))]
    pub load: Vec<u32>,

    /// Every service time, at 50, 70, 90 and 95 percent, where none is named: 3 rounds each, eleven minutes
    #[arg(long)]
    pub grid: bool,

    /// Seconds for which jobs arrive in a round, for each arm
    #[arg(long, value_name = "S", default_value_t = 3, value_parser = value_parser!(u32).range(1..=600))]
    pub window: u32,

    /// The longest piece that a job is served in, in microseconds
    #[arg(long, value_name = "US", default_value_t = 25, value_parser = value_parser!(u32).range(1..=10_000))]
    pub piece: u32,
}

const ROUNDS: &str =
    "Rounds, in each of which every arm serves the same schedule [default: 20, six minutes; 3 with --grid]";

impl Options {
    /// The cells to measure: a service time and a utilisation in percent each.
    pub(super) fn cells(&self) -> Vec<(Service, u32)> {
        let all = self.grid || self.common.quick;
        let services =
            or_default(&self.service, if all { Service::value_variants() } else { &[Service::Pareto] });
        let loads = or_default(&self.load, if self.grid { &GRID_LOADS } else { &[90] });
        services.iter().flat_map(|&service| loads.iter().map(move |&load| (service, load))).collect()
    }

    /// For how long jobs arrive in a round.
    pub(super) fn window(&self) -> Duration {
        if self.common.quick { QUICK_WINDOW } else { Duration::from_secs(u64::from(self.window)) }
    }

    /// The longest piece that a job is served in.
    pub(super) fn piece(&self) -> Duration {
        Duration::from_micros(u64::from(self.piece))
    }
}
