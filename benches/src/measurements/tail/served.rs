//! What one arm did with one schedule.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::classes;
use super::schedule::Schedule;
use crate::stats::spread::Values;

pub(super) struct Served {
    pub(super) schedule: Rc<Schedule>,
    /// When each job was handed to the executor and when its last piece ended, in order of arrival.
    pub(super) times: Vec<Times>,
    pub(super) polls: u64,
    pub(super) idle_ns: u64,
    pub(super) wall_ns: u64,
}

/// What happened to a job when, in nanoseconds of CPU time from the start.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Times {
    pub(super) admitted_ns: u64,
    pub(super) completed_ns: u64,
}

pub(super) struct Waits {
    /// Response times in nanoseconds: from the intended arrival to the end of the last piece.
    pub(super) response: Values,
    /// Response time over size, to the thousandth.
    pub(super) slowdown: Values,
    /// Those that had arrived and not ended when the window was over.
    pub(super) unfinished: u64,
}

impl Default for Waits {
    fn default() -> Self {
        Waits { response: Values::default(), slowdown: Values::to_the(0.001), unfinished: 0 }
    }
}

impl Served {
    fn elapsed_ns(&self) -> u64 {
        self.times.iter().map(|times| times.completed_ns).max().unwrap_or(0)
    }

    /// Time that was neither work nor idle, over the number of polls: what the executor, its host and the admission of jobs
    /// took.
    pub(super) fn overhead_ns_per_poll(&self) -> f64 {
        let overhead_ns =
            self.elapsed_ns().saturating_sub(self.idle_ns).saturating_sub(self.schedule.work_ns());
        overhead_ns as f64 / self.polls.max(1) as f64
    }

    /// How late jobs were admitted, at worst: a piece, and what the executor took at its end.
    pub(super) fn late_max_ns(&self) -> u64 {
        let jobs = self.schedule.jobs.iter().zip(&self.times);
        jobs.map(|(job, times)| times.admitted_ns - job.at_ns).max().unwrap_or(0)
    }

    /// Wall time over CPU time: 1 where no other program had the core.
    pub(super) fn stretch(&self) -> f64 {
        self.wall_ns as f64 / self.elapsed_ns().max(1) as f64
    }

    pub(super) fn waits(&self) -> (Waits, BTreeMap<u32, Waits>) {
        let (mut all, mut by_class) = (Waits::default(), BTreeMap::new());
        for (job, times) in self.schedule.jobs.iter().zip(&self.times) {
            let response_ns = (times.completed_ns - job.at_ns) as f64;
            let class = by_class.entry(classes::class(job.service_ns)).or_default();
            for waits in [&mut all, class] {
                waits.response.add(response_ns);
                waits.slowdown.add(response_ns / job.service_ns as f64);
                waits.unfinished += u64::from(times.completed_ns > self.schedule.length_ns);
            }
        }
        (all, by_class)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measurements::tail::schedule::job;

    fn served() -> Served {
        let schedule = Schedule { jobs: vec![job(1_000, 10_000), job(5_000, 200_000)], length_ns: 230_000 };
        let times = [(1_000, 21_000), (11_500, 231_000)];
        let times = times.map(|(admitted_ns, completed_ns)| Times { admitted_ns, completed_ns }).to_vec();
        Served { schedule: Rc::new(schedule), times, polls: 10, idle_ns: 1_000, wall_ns: 462_000 }
    }

    #[test]
    fn responses_count_from_the_intended_arrival() {
        let (all, by_class) = served().waits();
        let largest = |values: &Values| values.statistics()[5].1;
        assert_eq!((largest(&all.response), largest(&all.slowdown)), (226_000.0, 2.0));
        assert_eq!((all.response.count(), all.unfinished), (2, 1));
        let large = &by_class[&classes::class(200_000)];
        assert_eq!((large.response.count(), large.unfinished, largest(&large.slowdown)), (1, 1, 1.13));
    }

    #[test]
    fn what_is_neither_work_nor_idle_is_overhead() {
        // The last job ended at 231 µs, of which 210 µs were work and 1 µs was idle.
        let served = served();
        assert_eq!((served.overhead_ns_per_poll(), served.stretch()), (2_000.0, 2.0));
        assert_eq!(served.late_max_ns(), 6_500);
    }
}
