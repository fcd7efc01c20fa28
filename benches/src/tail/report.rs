//! What a run found, as data.

use serde::Serialize;

use super::arm::Arm;
use super::bars;
use super::classes::Class;
use super::options::Options;
use super::service::Service;
use super::window::{Account, Waits};
use crate::harness::conclusion::Conclusion;
use crate::harness::facts::Facts;
use crate::harness::heading::Heading;
use crate::report;
use crate::spread::Spread;
use crate::stats::Estimate;

/// The version of the JSON file's form.
pub const SCHEMA_VERSION: u32 = 1;

/// Everything that a run found.
#[derive(Debug, Serialize)]
pub struct Report {
    /// What every file of results begins with.
    #[serde(flatten)]
    pub heading: Heading<Arguments>,
    /// What was measured.
    pub cells: Vec<CellReport>,
    /// Whether it is where it should be.
    pub bars: Vec<Conclusion>,
}

/// The command line's part in the result.
#[derive(Debug, Serialize)]
pub struct Arguments {
    /// Whether the run was a quick one.
    pub quick: bool,
    /// Rounds of each cell.
    pub rounds: u32,
    /// For how long jobs arrive in a round, about.
    pub window_s: f64,
    /// The longest piece that a job is served in.
    pub piece_us: u32,
    /// The seed of every random choice.
    pub seed: u64,
}

/// One service time at one utilisation.
#[derive(Debug, Serialize)]
pub struct CellReport {
    /// The service time's name.
    pub service: Service,
    /// The service time, as the simulator reads it.
    pub distribution: String,
    /// The work that arrives, in percent of the window.
    pub load_percent: u32,
    /// By arm.
    pub arms: Vec<ArmReport>,
}

/// One arm of a cell, all rounds together unless it says otherwise.
#[derive(Debug, Serialize)]
pub struct ArmReport {
    /// Which.
    pub arm: Arm,
    /// Its name for people.
    pub title: &'static str,
    /// Jobs served.
    pub jobs: u64,
    /// Those of them that had not ended when their window was over. All have in the end.
    pub unfinished: u64,
    /// Intended arrival to the end of the last piece.
    pub response_ns: Spread,
    /// The same over the job's size.
    pub slowdown: Spread,
    /// The mean response over LocalSet's of the same round: median with its 95 % bootstrap interval.
    pub mean_ratio: Option<Estimate>,
    /// The slowdown's p99 over LocalSet's of the same round.
    pub slowdown_p99_ratio: Option<Estimate>,
    /// The mean response over that of the simulator with the same schedule and the round's own overhead.
    pub simulated_ratio: Estimate,
    /// Time that was neither work nor idle, for each piece served: the median of the rounds.
    pub overhead_ns_per_poll: f64,
    /// How late a job was admitted, at worst.
    pub late_max_ns: u64,
    /// Wall time over CPU time, at worst: 1 where nobody took the core away.
    pub stretch_max: f64,
    /// By size.
    pub classes: Vec<ClassReport>,
    /// Points of the response times' distribution: this part of them is no larger than so many nanoseconds.
    pub response_curve: Vec<(f64, f64)>,
    /// Points of the slowdowns' distribution.
    pub slowdown_curve: Vec<(f64, f64)>,
    /// By round.
    pub rounds: Vec<Round>,
}

/// The jobs of one decade of sizes.
#[derive(Debug, Serialize)]
pub struct ClassReport {
    /// The sizes.
    pub class: Class,
    /// Jobs of such sizes.
    pub jobs: u64,
    /// Those of them that had not ended when their window was over.
    pub unfinished: u64,
    /// Intended arrival to the end of the last piece.
    pub response_ns: Spread,
    /// The same over the job's size.
    pub slowdown: Spread,
}

/// One arm in one round.
#[derive(Clone, Debug, Serialize)]
pub struct Round {
    /// Intended arrival to the end of the last piece.
    pub response_ns: Spread,
    /// The same over the job's size.
    pub slowdown: Spread,
    /// Where the time went.
    pub account: Account,
    /// The simulator's mean response for the same schedule, in nanoseconds.
    pub simulated_mean_ns: f64,
}

impl ClassReport {
    /// Of these jobs.
    pub fn of(class: Class, waits: &Waits) -> Self {
        ClassReport {
            class,
            jobs: waits.response.count(),
            unfinished: waits.unfinished,
            response_ns: waits.response.spread(),
            slowdown: waits.slowdown.spread(),
        }
    }
}

impl Report {
    /// Of these cells.
    pub fn new(options: &Options, facts: Facts, cells: Vec<CellReport>) -> Self {
        let note = report::note(options.quick);
        let arguments = Arguments {
            quick: options.quick,
            rounds: options.rounds(),
            window_s: options.window().as_secs_f64(),
            piece_us: options.piece,
            seed: options.seed,
        };
        let schema = "clockworker-tail";
        Report {
            heading: Heading {
                schema: schema.to_owned(),
                schema_version: SCHEMA_VERSION,
                note: note.map(str::to_owned),
                arguments,
                facts,
            },
            bars: bars::draw(&cells, note.is_none()),
            cells,
        }
    }
}
