//! One arm, one schedule: what the jobs had to wait, by class.

use std::collections::BTreeMap;

use super::classes::Class;
use super::schedule::Schedule;
use super::server::Served;
use crate::stats::spread::Values;

/// Slowdowns are kept to this.
const SLOWDOWN_UNIT: f64 = 0.001;

/// What one arm did with the jobs of one window.
#[derive(Clone, Debug, Default)]
pub struct Jobs {
    /// All together.
    pub all: Waits,
    /// By size.
    pub classes: BTreeMap<Class, Waits>,
}

/// What jobs had to wait.
#[derive(Clone, Debug)]
pub struct Waits {
    /// Response times in nanoseconds: from the intended arrival to the end of the last piece.
    pub response: Values,
    /// Response time over size.
    pub slowdown: Values,
    /// Those that had arrived and not ended when the window was over.
    pub unfinished: u64,
}

/// Where the time of a window went.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Account {
    /// Pieces that jobs were served in.
    pub polls: u64,
    /// From the start to the last job's end, in nanoseconds.
    pub elapsed_ns: u64,
    /// Of it, without a job.
    pub idle_ns: u64,
    /// Of it, the work of the jobs.
    pub work_ns: u64,
    /// The rest: what the executor, its host and the admission of jobs took, over the number of polls.
    pub overhead_ns_per_poll: f64,
    /// How late jobs were admitted, at worst: a piece, and what the executor took at its end.
    pub late_max_ns: u64,
    /// Wall time over CPU time: 1 where no other program had the core.
    pub stretch: f64,
}

impl Jobs {
    /// Of one window.
    pub fn of(schedule: &Schedule, served: &Served) -> Self {
        let mut jobs = Jobs::default();
        for (job, times) in schedule.jobs.iter().zip(&served.times) {
            let response_ns = times.completed_ns - job.at_ns;
            let late = times.completed_ns > schedule.length_ns;
            jobs.all.add(response_ns, job.size_ns, late);
            jobs.classes.entry(Class::of(job.size_ns)).or_default().add(response_ns, job.size_ns, late);
        }
        jobs
    }
}

impl Default for Waits {
    fn default() -> Self {
        Waits { response: Values::to_the(1.0), slowdown: Values::to_the(SLOWDOWN_UNIT), unfinished: 0 }
    }
}

impl Waits {
    fn add(&mut self, response_ns: u64, size_ns: u64, unfinished: bool) {
        self.response.add(response_ns as f64);
        self.slowdown.add(response_ns as f64 / size_ns as f64);
        self.unfinished += u64::from(unfinished);
    }
}

impl Account {
    /// Of one window.
    pub fn of(schedule: &Schedule, served: &Served) -> Self {
        let jobs = || schedule.jobs.iter().zip(&served.times);
        let elapsed_ns = served.times.iter().map(|times| times.completed_ns).max().unwrap_or(0);
        let work_ns = schedule.work_ns();
        let rest = elapsed_ns.saturating_sub(served.idle_ns).saturating_sub(work_ns);
        Account {
            polls: served.polls,
            elapsed_ns,
            idle_ns: served.idle_ns,
            work_ns,
            overhead_ns_per_poll: rest as f64 / served.polls.max(1) as f64,
            late_max_ns: jobs().map(|(job, times)| times.admitted_ns - job.at_ns).max().unwrap_or(0),
            stretch: served.wall_ns as f64 / elapsed_ns.max(1) as f64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measurements::tail::schedule::Job;
    use crate::measurements::tail::server::Times;

    fn window() -> (Schedule, Served) {
        let jobs = vec![Job { at_ns: 1_000, size_ns: 10_000 }, Job { at_ns: 5_000, size_ns: 200_000 }];
        let times = vec![
            Times { admitted_ns: 1_000, completed_ns: 21_000 },
            Times { admitted_ns: 11_500, completed_ns: 231_000 },
        ];
        (Schedule { jobs, length_ns: 230_000 }, Served { times, polls: 10, idle_ns: 1_000, wall_ns: 462_000 })
    }

    #[test]
    fn responses_count_from_the_intended_arrival() {
        let (schedule, served) = window();
        let jobs = Jobs::of(&schedule, &served);
        let largest = |values: &Values| values.statistics()[5].1;
        assert_eq!((largest(&jobs.all.response), largest(&jobs.all.slowdown)), (226_000.0, 2.0));
        assert_eq!((jobs.all.response.count(), jobs.all.unfinished), (2, 1));
        let large = &jobs.classes[&Class::of(200_000)];
        assert_eq!((large.response.count(), large.unfinished, largest(&large.slowdown)), (1, 1, 1.13));
    }

    #[test]
    fn what_is_neither_work_nor_idle_is_overhead() {
        let (schedule, served) = window();
        let account = Account::of(&schedule, &served);
        assert_eq!((account.elapsed_ns, account.work_ns, account.late_max_ns), (231_000, 210_000, 6_500));
        assert_eq!((account.overhead_ns_per_poll, account.stretch), (2_000.0, 2.0));
    }
}
