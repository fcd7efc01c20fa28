//! The command `service`: what a key-value service gains and loses beside compaction, by its imports alone and by queues.
//!
//! The service is a plain one: a line is a request, each connection is a task, its state is an `Rc<RefCell<HashMap>>`, and
//! each line has a timeout. Compactors work off chunks of CPU time on the same thread and yield between them. On tokio its
//! source is compiled once for each set of imports, so that arms differ by those only; queues differ by some lines of the
//! main function beside it. On monoio the same is done with `monoio::spawn` for a base.
//!
//! A server is a process of its own, with one thread that serves, pinned to one core, as for [`tcp`](crate::tcp), whose
//! client this has too. Sixteen connections send when a schedule drawn beforehand says so, and latencies count from that
//! moment. [`rounds`] says how servers take turns.

pub mod arm;
pub mod bars;
pub mod cell;
pub mod compaction;
pub mod options;
pub mod report;
pub mod rounds;
pub mod server;
pub mod setup;
pub mod store;
pub mod talk;
pub mod text;

use crate::facts::Facts;
use crate::failure::Failure;
use crate::json::{self, JsonFile};
use crate::pinning::Pinning;
use crate::progress::Progress;
use crate::terminal;

use cell::Cell;
use options::Options;
use report::{CellReport, Report};

/// Carries out `service`: everything that can be refused is refused before anything is measured.
///
/// # Errors
///
/// If the JSON file cannot be written, a server cannot be started, a connection breaks, an answer is wrong, or standard
/// output cannot be written.
pub fn command(options: &Options) -> Result<(), Failure> {
    json::clean_up_on_interrupt()?;
    let file = options.json.as_deref().map(JsonFile::create).transpose()?;
    let cells = cell::plan(options)?;
    if !options.quick {
        terminal::print_text(&format!("{}\n\n", rounds::expected(&cells, options)))?;
    }
    let report = run(&cells, options)?;
    if let Some(file) = file {
        file.commit(&report)?;
    }
    terminal::print_with(|out| text::write(&report, out))
}

fn run(cells: &[Cell], options: &Options) -> Result<Report, Failure> {
    let pinning = Pinning::detect();
    let mut facts = Facts::gather(&pinning);
    facts.host = "as the tables say, each server with its own";
    let progress = Progress::start("service", cells.len() as u64 * u64::from(options.rounds()));
    let measure = |cell| {
        progress.say(Cell::title(cell));
        let samples = rounds::run(cell, options, &pinning, &progress)?;
        Ok(CellReport::new(cell, &samples, options))
    };
    let found: Vec<CellReport> = cells.iter().map(measure).collect::<Result<_, Failure>>()?;
    progress.finish();
    Ok(Report::new(options, facts.completed(), found))
}
