//! The command `service`: what a key-value service gains and loses beside compaction, by its imports alone and by queues.
//!
//! The service is a plain one: a line is a request, each connection is a task, its state is an `Rc<RefCell<HashMap>>`, and
//! each line has a timeout. Compactors work off chunks of CPU time on the same thread and yield between them. On tokio its
//! source is compiled once for each set of imports, so that arms differ by those only; queues differ by some lines of the
//! main function beside it. On monoio the same is done with `monoio::spawn` for a base.
//!
//! A server is a process of its own, with one thread that serves, pinned to one core, as for [`tcp`](super::tcp), whose
//! client this has too. Sixteen connections send when a schedule drawn beforehand says so, and latencies count from that
//! moment. `serving/cell.rs` says how servers take turns.

pub mod arm;
mod bars;
mod cell;
mod chapter;
pub mod options;
pub mod server;
mod store;
mod talk;

use crate::failure::Failure;
use crate::harness::measurement::{Measurement, Plan};
use crate::harness::pinning::Pinning;
use crate::harness::report::{Cell, Report};
use crate::page::model::Chapter;
use crate::stats::conclusion::Conclusion;

use cell::Shape;
use options::Options;

/// The measurement `service`.
pub(crate) struct Service;

impl Measurement for Service {
    type Options = Options;
    type Shape = Shape;

    const NAME: &'static str = "service";
    const SCHEMA: &'static str = "clockworker-service";
    const SCHEMA_VERSION: u32 = 2;
    const QUESTION: &'static str = "What does a service gain and lose, by its imports alone and by queues?";
    const HOST: &'static str = "as the tables say, each server with its own";

    fn plan(options: &Options, pinning: &Pinning) -> Result<Plan<Shape>, Failure> {
        Ok(cell::plan(options, pinning)?.into_iter().map(|cell| Box::new(cell) as _).collect())
    }

    fn bars(_options: &Options, cells: &[Cell<Shape>]) -> Vec<Conclusion> {
        bars::of(cells)
    }

    fn chapter(report: &Report<Self>) -> Chapter {
        chapter::of(report)
    }
}
