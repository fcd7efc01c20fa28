//! The command `programs`: what a program written for `LocalSet` costs and gains when only its imports change.
//!
//! The files in `programs/both` are compiled twice: once with `tokio::task`, once with `clockworker::compat`; `requests.rs`
//! once with monoio's spawn and once with Clockworker's. Nothing else differs. [`list`] has them all.
//!
//! In each round a program is run once by each arm, on a fresh set in a fresh host. The base runs twice: what its second
//! number over its first makes is what the method makes of no difference at all. What is resident afterwards is measured in
//! a process of its own each time.

pub mod arm;
pub mod chapter;
pub mod child;
pub mod clients;
pub mod finding;
pub mod list;
#[cfg(target_os = "linux")]
pub mod monoio_hosts;
pub mod options;
pub mod program;
pub mod quantity;
pub mod resident;
pub mod sampled;
pub mod setting;

use crate::failure::Failure;
use crate::harness::command;
use crate::harness::measurement::{Measurement, Plan};
use crate::harness::pinning::Pinning;
use crate::harness::report::{Cell, Report};
use crate::page::model::Chapter;
use crate::stats::conclusion::Conclusion;
use crate::terminal;

use finding::Finding;
use options::Options;
use sampled::{Sampled, Shape};
use setting::Setting;

/// The measurement `programs`.
#[derive(Debug)]
pub struct Programs;

impl Measurement for Programs {
    type Options = Options;
    type Shape = Shape;

    const NAME: &'static str = "programs";
    const SCHEMA: &'static str = "clockworker-programs";
    const SCHEMA_VERSION: u32 = 2;
    const QUESTION: &'static str =
        "What do programs written for LocalSet take when only their imports change?";

    fn plan(options: &Options, pinning: &Pinning) -> Result<Plan<Shape>, Failure> {
        let setting =
            || Setting { quick: options.common.quick, seed: options.common.seed, pinning: pinning.clone() };
        let programs = options.programs();
        Ok(programs.map(|program| Box::new(Sampled { program, setting: setting() }) as _).collect())
    }

    fn bars(_options: &Options, cells: &[Cell<Shape>]) -> Vec<Conclusion> {
        finding::all(cells).filter_map(|finding| Finding::conclusion(&finding)).collect()
    }

    fn chapter(report: &Report<Self>) -> Chapter {
        chapter::of(report)
    }
}

/// Carries out `programs`: measures them, or says which there are.
///
/// # Errors
///
/// If the JSON file cannot be written, a program in a process of its own fails, or standard output cannot be written.
pub fn command(options: &Options) -> Result<(), Failure> {
    match options.list {
        true => terminal::print_text(&list::titles()),
        false => command::command::<Programs>(options),
    }
}
