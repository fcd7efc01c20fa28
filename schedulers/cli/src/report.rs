//! What a simulation found, as data. Nothing in it depends on the machine or the date.

use clockworker_schedulers::simulate::{Classes, Figures, Outcome, Spread};
use serde::{Deserialize, Serialize};

use crate::mean::mean_and_error;
use crate::plan::{Case, Plan, PlannedQueue, Source};
use crate::sweep::Run;
use crate::target::Target;

/// The version of the JSON file's form. It goes up when a field changes its meaning or goes away, not when one is added.
const SCHEMA_VERSION: u32 = 1;

/// Everything that a sweep found.
#[derive(Debug, Deserialize, Serialize)]
pub struct Report {
    /// What kind of file this is.
    pub schema: String,
    /// The version of its form.
    pub schema_version: u32,
    /// What was asked for.
    pub arguments: Arguments,
    /// Every combination of shares and schedulers.
    pub cases: Vec<CaseReport>,
}

/// The command line's part in the result.
#[derive(Debug, Deserialize, Serialize)]
pub struct Arguments {
    /// The queues.
    pub queues: Vec<QueueArguments>,
    /// What each poll takes besides its work.
    pub overhead_ns: u64,
    /// Jobs in all; `null` for those of a trace.
    pub jobs: Option<u64>,
    /// Runs that they are divided among.
    pub replications: u64,
    /// What is to be met.
    pub targets: Vec<String>,
    /// The seed of every random choice.
    pub seed: u64,
}

/// A queue, but for what is tried.
#[derive(Debug, Deserialize, Serialize)]
pub struct QueueArguments {
    /// Its name.
    pub name: String,
    /// What comes to it.
    pub load: String,
    /// What it asks for per turn.
    pub request_ns: u64,
    /// Its longest poll.
    pub quantum_ns: u64,
}

/// One combination.
#[derive(Debug, Deserialize, Serialize)]
pub struct CaseReport {
    /// The queues.
    pub queues: Vec<QueueReport>,
    /// The targets, in the order in which they were given.
    pub targets: Vec<Verdict>,
    /// Whether all are met; `null` where there are none.
    pub meets: Option<bool>,
}

/// What became of the jobs of one queue.
#[derive(Debug, Deserialize, Serialize)]
pub struct QueueReport {
    /// Its name.
    pub name: String,
    /// Its share.
    pub share: u32,
    /// The name of its scheduler.
    pub scheduler: String,
    /// Its scheduler, for people.
    #[serde(default)]
    pub title: String,
    /// The part of the thread's time that it had.
    pub cpu: f64,
    /// Polls of its tasks.
    pub polls: u64,
    /// Jobs that were done; 0 for a queue that is only busy.
    pub jobs: u64,
    /// From arrival to end, in nanoseconds.
    pub response_ns: Option<Quantities>,
    /// Response time / service time.
    pub slowdown: Option<Quantities>,
    /// The same by size.
    pub classes: Vec<ClassReport>,
}

/// Jobs of like size.
#[derive(Debug, Deserialize, Serialize)]
pub struct ClassReport {
    /// Which sizes.
    pub sizes: String,
    /// How many.
    pub jobs: u64,
    /// From arrival to end, in nanoseconds.
    pub response_ns: Option<Quantities>,
    /// Response time / service time.
    pub slowdown: Option<Quantities>,
}

/// A quantity over many jobs.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub struct Quantities {
    /// The mean.
    pub mean: f64,
    /// Its standard error, from the differences between runs; `null` of one run.
    pub standard_error: Option<f64>,
    /// Quantiles, to three digits.
    pub p50: f64,
    /// 9 of 10 jobs take no longer.
    pub p90: f64,
    /// 99 of 100 jobs take no longer.
    pub p99: f64,
    /// 999 of 1,000 jobs take no longer.
    pub p99_9: f64,
    /// The largest.
    pub max: f64,
}

/// A target, and what was found.
#[derive(Debug, Deserialize, Serialize)]
pub struct Verdict {
    /// As it was written.
    pub target: String,
    /// Nanoseconds, or a slowdown.
    pub found: f64,
    /// Whether it is met. (Not by a queue without jobs.)
    pub met: bool,
    /// What was found, for people.
    #[serde(default)]
    pub shown: String,
}

impl Report {
    /// What its file calls itself.
    pub const SCHEMA: &str = "clockworker-simulate";

    /// Of these cases.
    pub(crate) fn new(plan: &Plan, cases: Vec<CaseReport>) -> Self {
        let queue = |queue: &PlannedQueue| QueueArguments {
            name: queue.name.clone(),
            load: queue.load.clone(),
            request_ns: queue.request_ns,
            quantum_ns: queue.quantum_ns,
        };
        let jobs = match plan.source {
            Source::Random { jobs, .. } => Some(jobs),
            Source::Trace(_) => None,
        };
        let arguments = Arguments {
            queues: plan.queues.iter().map(queue).collect(),
            overhead_ns: plan.overhead_ns,
            jobs,
            replications: plan.replications(),
            targets: plan.targets.iter().map(|(_, target)| target.to_string()).collect(),
            seed: plan.seed,
        };
        Self { schema: Self::SCHEMA.to_owned(), schema_version: SCHEMA_VERSION, arguments, cases }
    }
}

impl CaseReport {
    /// Of the runs of one case.
    pub(crate) fn new(plan: &Plan, case: &Case, runs: &[Run]) -> Self {
        let merged: Vec<Outcome> = (0..plan.queues.len()).map(|queue| merge(runs, queue)).collect();
        let queues = (0..plan.queues.len())
            .map(|queue| QueueReport::new(plan, case, runs, queue, &merged[queue]))
            .collect();
        let verdict = |(queue, target): &(usize, Target)| Verdict::new(target, &merged[*queue].all());
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
    pub fn shares(&self) -> String {
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
    fn new(plan: &Plan, case: &Case, runs: &[Run], queue: usize, merged: &Outcome) -> Self {
        let all: Vec<Figures> = runs.iter().map(|run| run.outcomes[queue].all()).collect();
        let (figures, runs_of_it) = (merged.all(), all.iter().collect::<Vec<_>>());
        let total = |of: fn(&Run, usize) -> u64| runs.iter().map(|run| of(run, queue)).sum::<u64>();
        let ended: u64 = runs.iter().map(|run| run.totals.ended_ns).sum();
        let class = |(place, title): (usize, &String)| {
            let by_run: Vec<&Figures> = runs.iter().map(|run| run.outcomes[queue].class(place)).collect();
            let figures = merged.class(place);
            ClassReport {
                sizes: title.clone(),
                jobs: figures.response.count(),
                response_ns: Quantities::of(figures, &by_run, |figures| &figures.response),
                slowdown: Quantities::of(figures, &by_run, |figures| &figures.slowdown),
            }
        };
        Self {
            name: plan.queues[queue].name.clone(),
            share: case.shares[queue].get(),
            scheduler: case.policies[queue].name().to_owned(),
            title: case.policies[queue].title().to_owned(),
            cpu: total(|run, queue| run.totals.queues[queue].busy_ns) as f64 / ended.max(1) as f64,
            polls: total(|run, queue| run.totals.queues[queue].polls),
            jobs: figures.response.count(),
            response_ns: Quantities::of(&figures, &runs_of_it, |figures| &figures.response),
            slowdown: Quantities::of(&figures, &runs_of_it, |figures| &figures.slowdown),
            classes: merged.classes().titles().iter().enumerate().map(class).collect(),
        }
    }
}

impl Quantities {
    /// Of a spread of `merged`, and of those of the runs it was merged from.
    fn of(merged: &Figures, runs: &[&Figures], spread: impl Fn(&Figures) -> &Spread) -> Option<Self> {
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
    fn new(target: &Target, figures: &Figures) -> Self {
        let found = target.figure(figures);
        let met = figures.response.count() > 0 && target.is_met_by(found);
        Self { target: target.to_string(), found, met, shown: target.show(found) }
    }
}
