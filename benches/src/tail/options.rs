//! What `tail` can be asked for.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, value_parser};

use super::service::Service;

/// Utilisations of the grid, in percent.
const GRID_LOADS: [u32; 4] = [50, 70, 90, 95];

/// Rounds of a cell, unless the command line says otherwise.
const ROUNDS: u32 = 20;
const GRID_ROUNDS: u32 = 3;
const QUICK_ROUNDS: u32 = 2;

const QUICK_WINDOW: Duration = Duration::from_millis(40);

/// Which cells to measure, and how long.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// A run of seconds through the same code: shows that everything works, measures nothing
    #[arg(long)]
    pub quick: bool,

    /// Service times, separated by commas [default: pareto]
    #[arg(long, value_name = "NAMES", value_enum, value_delimiter = ',')]
    pub service: Vec<Service>,

    /// Utilisations in percent, separated by commas [default: 90]
    #[arg(long, value_name = "PERCENT", value_delimiter = ',', value_parser = value_parser!(u32).range(1..=99))]
    pub load: Vec<u32>,

    /// Every service time, at 50, 70, 90 and 95 percent, where none is named: 3 rounds each, nine minutes
    #[arg(long)]
    pub grid: bool,

    /// Rounds, in each of which every arm serves the same schedule [default: 20, five minutes; 3 with --grid]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(2..=10_000))]
    pub rounds: Option<u32>,

    /// Seconds for which jobs arrive in a round, for each arm
    #[arg(long, value_name = "S", default_value_t = 3, value_parser = value_parser!(u32).range(1..=600))]
    pub window: u32,

    /// The longest piece that a job is served in, in microseconds
    #[arg(long, value_name = "US", default_value_t = 25, value_parser = value_parser!(u32).range(1..=10_000))]
    pub piece: u32,

    /// Where every random choice starts: arrivals, sizes, the order of the arms, resampling
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,

    /// Write the results, the distributions and the facts of the machine to FILE as JSON
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

impl Options {
    /// The cells to measure: a service time and a utilisation in percent each.
    pub fn cells(&self) -> Vec<(Service, u32)> {
        let all = self.grid || self.quick;
        let services = match self.service.as_slice() {
            [] if all => &Service::ALL,
            [] => &[Service::Pareto][..],
            named => named,
        };
        let loads = match self.load.as_slice() {
            [] if self.grid => &GRID_LOADS,
            [] => &[90][..],
            named => named,
        };
        services.iter().flat_map(|&service| loads.iter().map(move |&load| (service, load))).collect()
    }

    /// How often each arm serves a schedule in a cell.
    pub fn rounds(&self) -> u32 {
        let usual = match (self.quick, self.grid) {
            (true, _) => QUICK_ROUNDS,
            (false, true) => GRID_ROUNDS,
            (false, false) => ROUNDS,
        };
        self.rounds.unwrap_or(usual)
    }

    /// For how long jobs arrive in a round.
    pub fn window(&self) -> Duration {
        if self.quick { QUICK_WINDOW } else { Duration::from_secs(u64::from(self.window)) }
    }

    /// The longest piece that a job is served in.
    pub fn piece(&self) -> Duration {
        Duration::from_micros(u64::from(self.piece))
    }
}
