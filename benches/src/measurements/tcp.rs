//! The command `tcp`: an echo server on several hosts, its tasks spawned by the host itself and by clockworker.
//!
//! Every server is a process of its own, with one thread that serves, pinned to one core; the client is one thread of this
//! process, pinned to another, and the same for all. Each connection is one task. The client checks every byte that comes
//! back; a broken connection or a wrong echo ends the run.
//!
//! In a *closed loop* each connection has one message under way, and the throughput counts. In an *open loop* messages are
//! sent when a schedule drawn beforehand says so, and latencies count from that moment, so that a server that falls behind
//! is not let off. `serving/cell.rs` says how servers take turns.

mod bars;
mod cell;
mod chapter;
pub mod options;
pub mod server;

use crate::failure::Failure;
use crate::harness::measurement::{Measurement, Plan};
use crate::harness::pinning::Pinning;
use crate::harness::report::{self, Report};
use crate::page::model::Chapter;
use crate::stats::conclusion::Conclusion;

use cell::{Cell, Shape};
use options::Options;

/// The measurement `tcp`.
pub(crate) struct Tcp;

/// Files that are open beside a cell's connections.
const OTHER_FILES: u64 = 64;

impl Measurement for Tcp {
    type Options = Options;
    type Shape = Shape;

    const NAME: &'static str = "tcp";
    const SCHEMA: &'static str = "clockworker-tcp";
    const SCHEMA_VERSION: u32 = 2;
    const QUESTION: &'static str =
        "What do I/O services pay and gain: throughput and latency of an echo server?";
    const ARGUMENTS: &'static [&'static str] = &["tcp", "--only", "plain,background,budgets"];
    const HOST: &'static str = "as the tables say, each server with its own";

    fn plan(options: &Options, pinning: &Pinning) -> Result<Plan<Shape>, Failure> {
        let cells = cell::plan(options, pinning);
        allow_files(cells.iter().map(Cell::sockets).max().unwrap_or(0) + OTHER_FILES)?;
        Ok(cells.into_iter().map(|cell| Box::new(cell) as _).collect())
    }

    fn bars(_options: &Options, cells: &[report::Cell<Shape>]) -> Vec<Conclusion> {
        bars::of(cells)
    }

    fn chapter(report: &Report<Self>) -> Chapter {
        chapter::of(report)
    }
}

/// Makes sure that this process, and the servers it starts, may have so many files open.
#[cfg(unix)]
fn allow_files(files: u64) -> Result<(), Failure> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current.is_none_or(|current| current >= files) {
        return Ok(());
    }
    let refused =
        |reason: String| Failure::request(format!("{files} files cannot be open at once: {reason}"));
    if let Some(most) = maximum.filter(|&most| most < files) {
        return Err(refused(format!("the limit is {most}")));
    }
    let raised = Rlimit { current: Some(files), maximum };
    setrlimit(Resource::Nofile, raised).map_err(|error| refused(error.to_string()))
}

#[cfg(not(unix))]
fn allow_files(_files: u64) -> Result<(), Failure> {
    Ok(())
}
