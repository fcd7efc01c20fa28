//! The command `programs`: what a program written for `LocalSet` costs and gains when only its imports change.
//!
//! The files in `programs/both` are compiled twice: once with `tokio::task`, once with `clockworker::compat`; those in
//! `programs/monoio` once with monoio's spawn and once with Clockworker's. Nothing else differs. [`list`] has them all.
//!
//! They are run as [`overhead`](crate::overhead)'s measures are: in each *round* a program is run once by each arm, on a
//! fresh set in a fresh host, in an order shuffled anew, and each number is divided by the base's of the same round. The base
//! runs twice a round; what its second number over its first makes is what the method makes of no difference at all. A first
//! round is run and not counted. What is resident afterwards is measured in a process of its own each time.

pub mod arm;
pub mod child;
pub mod clients;
pub mod list;
#[cfg(target_os = "linux")]
pub mod monoio_hosts;
pub mod options;
pub mod program;
pub mod quantity;
pub mod report;
pub mod resident;
pub mod rounds;
pub mod setting;
pub mod text;

use crate::failure::Failure;
use crate::harness::facts::{self, Facts};
use crate::json::{self, JsonFile};
use crate::overhead::grid::Rounds;
use crate::pinning::{Pinning, Side};
use crate::terminal;

use options::Options;
use report::Report;
use setting::Setting;

/// Carries out `programs`: everything that can be refused is refused before anything is measured.
///
/// # Errors
///
/// If the JSON file cannot be written, a program in a process of its own fails, or standard output cannot be written.
pub fn command(options: &Options) -> Result<(), Failure> {
    if options.list {
        return terminal::print_with(text::write_list);
    }
    json::clean_up_on_interrupt()?;
    let file = options.json.as_deref().map(JsonFile::create).transpose()?;
    let report = run(options)?;
    if let Some(file) = file {
        file.commit(&report)?;
    }
    terminal::print_with(|out| text::write(&report, out))
}

fn run(options: &Options) -> Result<Report, Failure> {
    let pinning = Pinning::detect();
    let facts = Facts::gather(&pinning, facts::TOKIO);
    pinning.pin(Side::Measured);
    let setting = Setting { quick: options.quick, seed: options.seed, pinning };
    let rounds = Rounds::new(options.rounds, options.quick, options.seed);
    let findings = rounds::run(&options.programs(), &setting, &rounds)?;
    Ok(Report::new(options, facts.completed(), findings))
}
