//! What a simulation found, as data. Nothing in it depends on the machine or the date.

use clockworker_schedulers::simulate::{Classes, Figures, Outcome, QueueTotals, Spread};
use serde::Serialize;

use crate::numbers::mean_and_error;
use crate::plan::{Case, Plan, PlannedQueue, Source};
use crate::sweep::Run;
use crate::target::Target;

/// In place of a time that grows with the run.
pub(crate) const UNSTABLE: &str = "unstable";

/// Everything that a sweep found.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    /// What kind of file this is.
    schema: &'static str,
    /// The version of its form. It goes up when a field changes its meaning or goes away, not when one is added.
    schema_version: u32,
    pub(crate) arguments: Arguments,
    /// Every combination of shares and schedulers.
    pub(crate) cases: Vec<CaseReport>,
}

/// The command line's part in the result.
#[derive(Debug, Serialize)]
pub(crate) struct Arguments {
    pub(crate) queues: Vec<PlannedQueue>,
    /// What each poll takes besides its work.
    pub(crate) overhead_ns: u64,
    /// Jobs in all; `null` for those of a trace.
    pub(crate) jobs: Option<u64>,
    /// Runs that they are divided among.
    pub(crate) replications: u64,
    pub(crate) targets: Vec<String>,
    pub(crate) seed: u64,
}

/// One combination.
#[derive(Debug, Serialize)]
pub(crate) struct CaseReport {
    pub(crate) queues: Vec<QueueReport>,
    /// In the order in which the targets were given.
    pub(crate) targets: Vec<Verdict>,
    /// Whether all are met; `null` where there are none.
    pub(crate) meets: Option<bool>,
}

/// What became of the jobs of one queue.
#[derive(Debug, Serialize)]
pub(crate) struct QueueReport {
    pub(crate) name: String,
    pub(crate) share: u32,
    pub(crate) scheduler: String,
    /// Its scheduler, for people.
    pub(crate) title: String,
    /// Whether its jobs ask for less than it is left. Else its backlog grows for as long as it runs, and its times say no more than
    /// how long that was.
    pub(crate) stable: bool,
    /// The part of the thread's time that it had.
    pub(crate) cpu: f64,
    pub(crate) polls: u64,
    #[serde(flatten)]
    pub(crate) done: JobsReport,
    pub(crate) classes: Vec<ClassReport>,
}

/// Jobs of like size.
#[derive(Debug, Serialize)]
pub(crate) struct ClassReport {
    /// Which sizes.
    pub(crate) sizes: String,
    #[serde(flatten)]
    pub(crate) done: JobsReport,
}

/// The jobs that were done; none of a queue that is only busy.
#[derive(Debug, Serialize)]
pub(crate) struct JobsReport {
    pub(crate) jobs: u64,
    /// From arrival to end.
    pub(crate) response_ns: Option<Quantities>,
    /// Response time / service time.
    pub(crate) slowdown: Option<Quantities>,
}

/// A quantity over many jobs. Quantiles have three digits.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Quantities {
    pub(crate) mean: f64,
    /// Of the mean, from the differences between runs; `null` of one run.
    pub(crate) standard_error: Option<f64>,
    pub(crate) p50: f64,
    pub(crate) p90: f64,
    pub(crate) p99: f64,
    pub(crate) p99_9: f64,
    pub(crate) max: f64,
}

/// A target, and what was found.
#[derive(Debug, Serialize)]
pub(crate) struct Verdict {
    pub(crate) target: String,
    /// Nanoseconds, or a slowdown.
    pub(crate) found: f64,
    /// Whether it is met. (Not by a queue without jobs, or one that is not stable.)
    pub(crate) met: bool,
    /// What was found, for people.
    pub(crate) shown: String,
}

impl Report {
    /// Of these cases.
    pub(crate) fn new(plan: &Plan, cases: Vec<CaseReport>) -> Self {
        let jobs = match plan.source {
            Source::Random { jobs, .. } => Some(jobs),
            Source::Trace(_) => None,
        };
        let arguments = Arguments {
            queues: plan.queues.clone(),
            overhead_ns: plan.overhead_ns,
            jobs,
            replications: plan.replications(),
            targets: plan.targets.iter().map(|(_, target)| target.to_string()).collect(),
            seed: plan.seed,
        };
        Self { schema: "clockworker-simulate", schema_version: 1, arguments, cases }
    }
}

impl CaseReport {
    /// Of the runs of one case.
    pub(crate) fn new(plan: &Plan, case: &Case, runs: &[Run]) -> Self {
        let merged: Vec<Outcome> = (0..plan.queues.len()).map(|queue| merge(runs, queue)).collect();
        let stable = plan.are_stable(case);
        let report = |(queue, merged)| QueueReport::new(plan, case, runs, (queue, stable[queue]), merged);
        let queues = merged.iter().enumerate().map(report).collect();
        let verdict = |&(queue, ref target): &(usize, Target)| {
            Verdict::new(target, &merged[queue].all(), stable[queue])
        };
        let targets: Vec<Verdict> = plan.targets.iter().map(verdict).collect();
        let meets = (!targets.is_empty()).then(|| targets.iter().all(|verdict| verdict.met));
        Self { queues, targets, meets }
    }

    /// The same, of jobs that were not simulated.
    pub(crate) fn into_measured(mut self) -> Self {
        for queue in &mut self.queues {
            queue.scheduler = "measured".to_owned();
            queue.title = "as it was".to_owned();
        }
        self
    }

    /// What tells it from the others, for people: the shares, and each scheduler once.
    pub(crate) fn title(&self) -> String {
        let mut titles: Vec<&str> = self.queues.iter().map(|queue| &*queue.title).collect();
        titles.dedup();
        let schedulers = titles.join(" and ");
        if self.queues.len() == 1 { schedulers } else { format!("{schedulers} at {}", self.shares()) }
    }

    /// The shares, as they are written.
    pub(crate) fn shares(&self) -> String {
        self.queues.iter().map(|queue| queue.share.to_string()).collect::<Vec<_>>().join(":")
    }
}

/// All runs of one queue together.
fn merge(runs: &[Run], queue: usize) -> Outcome {
    let mut outcomes = runs.iter().map(|run| &run.outcomes[queue]);
    let mut merged = outcomes.next().cloned().unwrap_or_else(|| Outcome::new(Classes::at([])));
    outcomes.for_each(|outcome| merged.merge(outcome));
    merged
}

impl QueueReport {
    fn new(plan: &Plan, case: &Case, runs: &[Run], (queue, stable): (usize, bool), merged: &Outcome) -> Self {
        let total =
            |of: fn(&QueueTotals) -> u64| runs.iter().map(|run| of(&run.totals.queues[queue])).sum::<u64>();
        let ended: u64 = runs.iter().map(|run| run.totals.ended_ns).sum();
        let by_run: Vec<Figures> = runs.iter().map(|run| run.outcomes[queue].all()).collect();
        let class = |(place, sizes): (usize, &String)| {
            let by_run: Vec<&Figures> = runs.iter().map(|run| run.outcomes[queue].class(place)).collect();
            ClassReport { sizes: sizes.clone(), done: JobsReport::new(merged.class(place), &by_run) }
        };
        Self {
            name: plan.queues[queue].name.clone(),
            share: case.shares[queue].get(),
            scheduler: case.policies[queue].name().to_owned(),
            title: case.policies[queue].title().to_owned(),
            stable,
            cpu: total(|totals| totals.busy_ns) as f64 / ended.max(1) as f64,
            polls: total(|totals| totals.polls),
            done: JobsReport::new(&merged.all(), &by_run.iter().collect::<Vec<_>>()),
            classes: merged.classes().titles().iter().enumerate().map(class).collect(),
        }
    }
}

impl JobsReport {
    /// Of all runs together, and of each.
    fn new(merged: &Figures, runs: &[&Figures]) -> Self {
        Self {
            jobs: merged.response.count(),
            response_ns: Quantities::of(merged, runs, |figures| &figures.response),
            slowdown: Quantities::of(merged, runs, |figures| &figures.slowdown),
        }
    }
}

impl Quantities {
    /// Of a spread of `merged`, and of those of the runs it was merged from.
    fn of(merged: &Figures, runs: &[&Figures], spread: fn(&Figures) -> &Spread) -> Option<Self> {
        let whole = spread(merged);
        if whole.count() == 0 {
            return None;
        }
        let counted = runs.iter().map(|figures| spread(figures)).filter(|spread| spread.count() > 0);
        let means: Vec<f64> = counted.map(Spread::mean).collect();
        Some(Self {
            mean: whole.mean(),
            standard_error: mean_and_error(&means).1,
            p50: whole.quantile(0.5),
            p90: whole.quantile(0.9),
            p99: whole.quantile(0.99),
            p99_9: whole.quantile(0.999),
            max: whole.max(),
        })
    }
}

impl Verdict {
    fn new(target: &Target, figures: &Figures, stable: bool) -> Self {
        let found = target.figure(figures);
        let met = stable && figures.response.count() > 0 && target.is_met_by(found);
        let shown = if stable { target.show(found) } else { UNSTABLE.to_owned() };
        Self { target: target.to_string(), found, met, shown }
    }
}
