//! Runs every case of a plan, and gathers what became of the jobs.

use std::num::NonZeroUsize;

use clockworker_schedulers::simulate::{Outcome, Simulation, SimulationError, Totals};

use crate::plan::{Case, Plan};
use crate::report::{CaseReport, Report};
use crate::work;
use clockworker_terminal::failure::Failure;

/// One run of one case.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    /// By queue.
    pub(crate) outcomes: Vec<Outcome>,
    /// What was used.
    pub(crate) totals: Totals,
}

/// Runs a plan.
///
/// # Errors
///
/// If a scheduler breaks its contract.
pub(crate) fn run(plan: &Plan, threads: NonZeroUsize) -> Result<Report, Failure> {
    let replications = plan.replications() as usize;
    let count = plan.cases.len() * replications;
    let runs = work::each("simulate", count, threads, |number| {
        run_once(plan, &plan.cases[number / replications], (number % replications) as u64)
    })?;
    let runs: Result<Vec<Run>, SimulationError> = runs.into_iter().collect();
    let runs = runs.map_err(Failure::run)?;
    let cases = plan.cases.iter().zip(runs.chunks(replications));
    Ok(Report::new(plan, cases.map(|(case, runs)| CaseReport::new(plan, case, runs)).collect()))
}

fn run_once(plan: &Plan, case: &Case, replication: u64) -> Result<Run, SimulationError> {
    let mut outcomes: Vec<Outcome> =
        plan.queues.iter().map(|queue| Outcome::new(queue.classes.clone())).collect();
    let totals = Simulation::new(plan.make_queues(case))
        .overhead_ns(plan.overhead_ns)
        .run(plan.jobs(replication), |done| outcomes[done.job.queue].add(done))?;
    Ok(Run { outcomes, totals })
}
