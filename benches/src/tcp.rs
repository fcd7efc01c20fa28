//! The command `tcp`: an echo server on several hosts, its tasks spawned by the host itself and by clockworker.
//!
//! Every server is a process of its own, with one thread that serves, pinned to one core; the client is one thread of this
//! process, pinned to another, and the same for all. Each connection is one task. The client checks every byte that comes
//! back; a broken connection or a wrong echo ends the run.
//!
//! In a *closed loop* each connection has one message under way, and the throughput counts. In an *open loop* messages are
//! sent when a schedule drawn beforehand says so, and latencies count from that moment, so that a server that falls behind
//! is not let off. [`rounds`] says how servers take turns.

pub mod bars;
pub mod cell;
pub mod options;
pub mod report;
pub mod rounds;
pub mod samples;
pub mod server;
pub mod setup;
pub mod text;

use crate::failure::Failure;
use crate::harness::facts::Facts;
use crate::json::{self, JsonFile};
use crate::pinning::Pinning;
use crate::terminal;

use cell::Cell;
use options::Options;
use report::{CellReport, Report};

/// Files that are open beside a cell's connections.
const OTHER_FILES: u64 = 64;

/// Carries out `tcp`: everything that can be refused is refused before anything is measured.
///
/// # Errors
///
/// If the JSON file cannot be written, more files would have to be open than may be, a server cannot be started, a
/// connection breaks, an echo is not what was sent, or standard output cannot be written.
pub fn command(options: &Options) -> Result<(), Failure> {
    json::clean_up_on_interrupt()?;
    let file = options.json.as_deref().map(JsonFile::create).transpose()?;
    let cells = cell::plan(options);
    let files = cells.iter().map(|cell| cell.arms.len() as u64 * u64::from(cell.shape.connections)).max();
    allow_files(files.unwrap_or(0) + OTHER_FILES)?;
    let report = run(&cells, options)?;
    if let Some(file) = file {
        file.commit(&report)?;
    }
    terminal::print_with(|out| text::write(&report, out))
}

fn run(cells: &[Cell], options: &Options) -> Result<Report, Failure> {
    let pinning = Pinning::detect();
    let facts = Facts::gather(&pinning, "as the tables say, each server with its own");
    let measure = |cell| Ok(CellReport::new(cell, &rounds::run(cell, options, &pinning)?, options.seed));
    let found: Vec<CellReport> = cells.iter().map(measure).collect::<Result<_, Failure>>()?;
    Ok(Report::new(options, facts.completed(), found))
}

/// Makes sure that this process, and the servers it starts, may have so many files open.
#[cfg(unix)]
fn allow_files(files: u64) -> Result<(), Failure> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current.is_none_or(|current| current >= files) {
        return Ok(());
    }
    let raised = Rlimit { current: Some(maximum.map_or(files, |most| most.min(files))), maximum };
    let refused =
        |reason: String| Failure::request(format!("{files} files cannot be open at once: {reason}"));
    if maximum.is_some_and(|most| most < files) {
        return Err(refused(format!("the limit is {}", maximum.unwrap_or(0))));
    }
    setrlimit(Resource::Nofile, raised).map_err(|error| refused(error.to_string()))
}

#[cfg(not(unix))]
fn allow_files(_files: u64) -> Result<(), Failure> {
    Ok(())
}
