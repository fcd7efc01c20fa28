//! What one arm did with one schedule, of all jobs and by size: a decade is a class, and all that is below 10 µs is one.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::schedule::Schedule;
use crate::stats::spread::Values;

pub(in crate::measurements) struct Served {
    pub(in crate::measurements) schedule: Rc<Schedule>,
    /// When each job was handed to the executor and when its last piece ended, in order of arrival.
    pub(in crate::measurements) times: Vec<Times>,
    pub(in crate::measurements) polls: u64,
    pub(in crate::measurements) idle_ns: u64,
    pub(in crate::measurements) wall_ns: u64,
}

/// What happened to a job when, in nanoseconds of CPU time from the start.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::measurements) struct Times {
    pub(in crate::measurements) admitted_ns: u64,
    pub(in crate::measurements) completed_ns: u64,
}

pub(super) struct Waits {
    /// Response times in nanoseconds: from the intended arrival to the end of the last piece.
    pub(super) response: Values,
    /// Response time over size, to the thousandth.
    pub(super) slowdown: Values,
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

    /// Time that was neither work nor idle, per poll: what the executor, its host and the admission of jobs took.
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
            let class = by_class.entry(class(job.service_ns)).or_default();
            for waits in [&mut all, class] {
                waits.response.add(response_ns);
                waits.slowdown.add(response_ns / job.service_ns as f64);
                waits.unfinished += u64::from(times.completed_ns > self.schedule.length_ns);
            }
        }
        (all, by_class)
    }
}

/// The decade below the first that has a class of its own: up to 10 µs. What is smaller than that waits mostly for polls
/// of others under way, whatever the order.
const SMALL: u32 = 3;

const LARGEST: u32 = 12;

/// The class of a job of so many nanoseconds: k for sizes from 10ᵏ to 10ᵏ⁺¹.
fn class(size_ns: u64) -> u32 {
    size_ns.max(1).ilog10().max(SMALL)
}

pub(super) fn class_name(class: u32) -> String {
    let [from, to] = [class, class + 1].map(power_of_ten);
    if class == SMALL { format!("below {to}") } else { format!("{from} – {to}") }
}

pub(super) fn class_named(class: &str) -> u32 {
    (SMALL..=LARGEST).find(|&decade| class_name(decade) == class).unwrap_or(LARGEST)
}

fn power_of_ten(power: u32) -> String {
    let unit = ["ns", "µs", "ms", "s"][(power as usize / 3).min(3)];
    format!("{} {unit}", 10_u64.pow(power - (power / 3).min(3) * 3))
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
        let large = &by_class[&class(200_000)];
        assert_eq!((large.response.count(), large.unfinished, largest(&large.slowdown)), (1, 1, 1.13));
    }

    #[test]
    fn what_is_neither_work_nor_idle_is_overhead() {
        // The last job ended at 231 µs, of which 210 µs were work and 1 µs was idle.
        let served = served();
        assert_eq!((served.overhead_ns_per_poll(), served.stretch()), (2_000.0, 2.0));
        assert_eq!(served.late_max_ns(), 6_500);
    }

    #[test]
    fn a_class_is_a_decade() {
        let names = [
            (&[0, 7, 9_999][..], "below 10 µs"),
            (&[10_000, 99_999], "10 µs – 100 µs"),
            (&[100_000], "100 µs – 1 ms"),
            (&[50_000_000], "10 ms – 100 ms"),
            (&[2_000_000_000], "1 s – 10 s"),
        ];
        for (sizes, wanted) in names {
            assert!(sizes.iter().all(|&size| class_name(class(size)) == wanted), "{wanted}");
            assert_eq!(class_named(wanted), class(sizes[0]));
        }
    }
}
