//! Runs every case of a plan, and gathers what became of the jobs.

use std::num::NonZeroUsize;

use clockworker_schedulers::simulate::{Outcome, QueueTotals, Simulation, Totals};

use crate::plan::{Case, Plan};
use crate::report::{CaseReport, Report};
use crate::work;

/// One run of one case.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    /// By queue.
    pub(crate) outcomes: Vec<Outcome>,
    pub(crate) totals: Totals,
}

/// Runs a plan.
pub(crate) fn run(plan: &Plan, threads: NonZeroUsize) -> anyhow::Result<Report> {
    let replications = plan.replications() as usize;
    let count = plan.cases.len() * replications;
    let runs = work::each("simulate", count, threads, |number| {
        run_once(plan, &plan.cases[number / replications], (number % replications) as u64)
    })?;
    let cases = plan.cases.iter().zip(runs.chunks(replications));
    let cases = cases.map(|(case, runs)| CaseReport::new(plan, case, runs));
    Ok(Report::new(plan, measured(plan).into_iter().chain(cases).collect()))
}

/// How the jobs of a trace went when it was recorded, if it says so.
fn measured(plan: &Plan) -> Option<CaseReport> {
    let (done, case) = (plan.measured(), plan.cases.first()?);
    let ended_ns = done.iter().map(|done| done.finished_ns).max()?;
    let mut run = Run { outcomes: plan.outcomes(), totals: Totals { ended_ns, ..Totals::default() } };
    run.totals.queues.resize(plan.queues.len(), QueueTotals::default());
    for &done in done {
        let (queue, service_ns) = (&mut run.totals.queues[done.job.queue], done.job.service_ns);
        queue.busy_ns += service_ns;
        queue.polls += plan.polls_of(&done.job);
        run.outcomes[done.job.queue].add(done);
    }
    Some(CaseReport::new(plan, case, &[run]).into_measured())
}

fn run_once(plan: &Plan, case: &Case, replication: u64) -> anyhow::Result<Run> {
    let mut outcomes = plan.outcomes();
    let totals = Simulation::new(plan.make_queues(case))
        .overhead_ns(plan.overhead_ns)
        .polls(plan.polls())
        .pauses(plan.pauses().iter().copied())
        .run(plan.jobs(replication)?, |done| outcomes[done.job.queue].add(done))?;
    Ok(Run { outcomes, totals })
}
