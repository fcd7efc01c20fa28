//! One service time at one utilisation.

use std::rc::Rc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::arm::Arm;
use super::options::Options;
use super::schedule::Schedule;
use super::service::Service;
use super::simulated;
use super::window::{Account, Jobs, Waits};
use crate::failure::Failure;
use crate::harness::experiment::{Experiment, Rounds, Window};
use crate::harness::pinning::Side;
use crate::harness::report::{self, arms};
use crate::harness::sample::Sample;

/// Intended arrival to the end of the last piece.
pub const RESPONSE: &str = "response_ns";

/// The same over the job's size.
pub const SLOWDOWN: &str = "slowdown";

/// Jobs that had not ended when their window was over, a round. All have in the end.
pub const UNFINISHED: &str = "unfinished";

/// The mean response over that of the simulator with the same schedule and the round's own overhead.
pub const SIMULATED_RATIO: &str = "mean_by_simulated";

/// Time that was neither work nor idle, for each piece served.
pub const OVERHEAD: &str = "overhead_ns_per_poll";

/// Wall time over CPU time: 1 where no other program had the core.
pub const STRETCH: &str = "stretch";

/// How late a job was admitted, at worst.
const LATE: &str = "late_max_ns";

/// What stands between a figure's name and the sizes it is for.
pub const OF: &str = " of ";

/// Rounds of a cell, unless the command line says otherwise.
const ROUNDS: u32 = 20;
const GRID_ROUNDS: u32 = 3;

/// What tells a cell from others.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Shape {
    /// The service time's name.
    pub service: Service,
    /// The service time, as the simulator reads it.
    pub distribution: String,
    /// The work that arrives, in percent of the window.
    pub load_percent: u32,
    /// For how long jobs arrive in a round, about.
    pub window_s: f64,
    /// The longest piece that a job is served in.
    pub piece_us: u32,
}

/// One service time at one utilisation.
#[derive(Clone, Debug)]
pub struct Cell {
    /// The service time.
    pub service: Service,
    /// The work that arrives, in percent of the window.
    pub load_percent: u32,
    /// What was asked for.
    pub options: Options,
    /// What tells this cell's random numbers from those of others.
    pub part: u64,
}

impl Experiment<Shape> for Cell {
    fn cells(&self) -> Vec<report::Cell<Shape>> {
        let shape = Shape {
            service: self.service,
            distribution: self.service.distribution().to_string(),
            load_percent: self.load_percent,
            window_s: self.options.window().as_secs_f64(),
            piece_us: self.options.piece,
        };
        let title = format!("{} at {} %", self.service.name(), self.load_percent);
        let arms = arms(Arm::ALL.map(|arm| (arm.key().to_owned(), arm.title().to_owned())));
        vec![report::Cell::new(title, shape, arms)]
    }

    fn sample(&mut self, window: &Window) -> Result<Sample, Failure> {
        let (arm, piece, load) =
            (Arm::ALL[window.arm], self.options.piece(), f64::from(self.load_percent) / 100.0);
        let (seed, part) = (self.options.common.seed, self.part << 32 | window.round);
        let schedule = Rc::new(Schedule::draw(self.service, load, self.options.window(), seed, part));
        let served = arm.serve(&schedule, piece);
        let (jobs, account) = (Jobs::of(&schedule, &served), Account::of(&schedule, &served));
        let simulated = simulated::mean_response_ns(arm, &schedule, piece, &account);
        let sample = Sample::default()
            .with_rate(SIMULATED_RATIO, jobs.all.response.mean(), simulated)
            .with_number(OVERHEAD, account.overhead_ns_per_poll)
            .with_number(LATE, account.late_max_ns as f64)
            .with_number(STRETCH, account.stretch);
        let sample = with_waits(sample, "", jobs.all);
        let classes = jobs.classes.into_iter();
        Ok(classes.fold(sample, |sample, (class, waits)| with_waits(sample, &format!("{OF}{class}"), waits)))
    }

    fn rounds(&self) -> Rounds {
        Rounds { usual: if self.options.grid { GRID_ROUNDS } else { ROUNDS }, limit: None, warms_up: false }
    }

    fn side(&self) -> Side {
        Side::Measured
    }

    fn base<'a>(&self, _cell: &'a report::Cell<Shape>, figure: &str) -> Option<&'a str> {
        [RESPONSE, SLOWDOWN]
            .iter()
            .any(|of_all| figure.starts_with(&format!("{of_all}.")))
            .then(|| Arm::LocalSet.key())
    }

    fn round_takes(&self) -> Option<Duration> {
        Some(self.options.window() * Arm::ALL.len() as u32)
    }
}

/// What jobs of such sizes had to wait.
fn with_waits(sample: Sample, sizes: &str, waits: Waits) -> Sample {
    sample
        .with_values(format!("{RESPONSE}{sizes}"), waits.response)
        .with_values(format!("{SLOWDOWN}{sizes}"), waits.slowdown)
        .with_number(format!("{UNFINISHED}{sizes}"), waits.unfinished as f64)
}
