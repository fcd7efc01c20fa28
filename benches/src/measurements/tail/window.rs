//! One arm, one schedule: what the jobs had to wait, by class.

use std::collections::BTreeMap;

use super::classes;
use super::schedule::Schedule;
use super::server::Served;
use crate::stats::spread::Values;

/// Slowdowns are kept to this.
const SLOWDOWN_UNIT: f64 = 0.001;

/// What one arm did with the jobs of one window.
#[derive(Default)]
pub(super) struct Jobs {
    /// All together.
    pub(super) all: Waits,
    /// By class of sizes.
    pub(super) classes: BTreeMap<u32, Waits>,
}

/// What jobs had to wait.
pub(super) struct Waits {
    /// Response times in nanoseconds: from the intended arrival to the end of the last piece.
    pub(super) response: Values,
    /// Response time over size.
    pub(super) slowdown: Values,
    /// Those that had arrived and not ended when the window was over.
    pub(super) unfinished: u64,
}

/// Where the time of a window went.
pub(super) struct Account {
    /// What was neither work nor idle: what the executor, its host and the admission of jobs took, over the number of polls.
    pub(super) overhead_ns_per_poll: f64,
    /// How late jobs were admitted, at worst: a piece, and what the executor took at its end.
    pub(super) late_max_ns: u64,
    /// Wall time over CPU time: 1 where no other program had the core.
    pub(super) stretch: f64,
}

impl Jobs {
    /// Of one window.
    pub(super) fn of(schedule: &Schedule, served: &Served) -> Self {
        let mut jobs = Jobs::default();
        for (job, times) in schedule.jobs.iter().zip(&served.times) {
            let response_ns = times.completed_ns - job.at_ns;
            let late = times.completed_ns > schedule.length_ns;
            let class = jobs.classes.entry(classes::class(job.service_ns)).or_default();
            for waits in [&mut jobs.all, class] {
                waits.add(response_ns, job.service_ns, late);
            }
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
    pub(super) fn of(schedule: &Schedule, served: &Served) -> Self {
        let jobs = || schedule.jobs.iter().zip(&served.times);
        let elapsed_ns = served.times.iter().map(|times| times.completed_ns).max().unwrap_or(0);
        let rest = elapsed_ns.saturating_sub(served.idle_ns).saturating_sub(schedule.work_ns());
        Account {
            overhead_ns_per_poll: rest as f64 / served.polls.max(1) as f64,
            late_max_ns: jobs().map(|(job, times)| times.admitted_ns - job.at_ns).max().unwrap_or(0),
            stretch: served.wall_ns as f64 / elapsed_ns.max(1) as f64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measurements::tail::schedule::job;
    use crate::measurements::tail::server::Times;

    fn window() -> (Schedule, Served) {
        let jobs = vec![job(1_000, 10_000), job(5_000, 200_000)];
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
        let large = &jobs.classes[&classes::class(200_000)];
        assert_eq!((large.response.count(), large.unfinished, largest(&large.slowdown)), (1, 1, 1.13));
    }

    #[test]
    fn what_is_neither_work_nor_idle_is_overhead() {
        let (schedule, served) = window();
        let account = Account::of(&schedule, &served);
        // The last job ended at 231 µs, of which 210 µs were work and 1 µs was idle.
        assert_eq!(
            (account.overhead_ns_per_poll, account.late_max_ns, account.stretch),
            (2_000.0, 6_500, 2.0)
        );
    }
}
