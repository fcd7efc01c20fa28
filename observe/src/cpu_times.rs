//! [`CpuTimes`]: how long a thread had a CPU, and how long it waited for one.

use std::fs;
use std::time::Duration;

/// Since a thread began. None but on Linux: the file is nowhere else. The kernel brings it up to date some hundred times a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct CpuTimes {
    /// It ran.
    pub(crate) on_cpu: Duration,
    /// It was ready to run and had no CPU: other threads or other machines had it.
    pub(crate) off_cpu: Duration,
}

impl CpuTimes {
    /// Of the calling thread.
    pub(crate) fn of_this_thread() -> Option<Self> {
        Self::read("/proc/thread-self/schedstat")
    }

    /// Of the thread of this process with that number.
    #[cfg(feature = "stalls")]
    pub(crate) fn of_thread(number: u32) -> Option<Self> {
        Self::read(&format!("/proc/self/task/{number}/schedstat"))
    }

    /// What came since `earlier`, in a time of `took`. The kernel counts a wait when it is over, so all the time of a thread that
    /// [is ready](is_ready) counts as one, but for what it ran.
    #[cfg(feature = "stalls")]
    pub(crate) fn since(self, earlier: Self, took: Duration, is_ready: bool) -> Self {
        let on_cpu = self.on_cpu.saturating_sub(earlier.on_cpu).min(took);
        let counted = self.off_cpu.saturating_sub(earlier.off_cpu).min(took - on_cpu);
        Self { on_cpu, off_cpu: if is_ready { took - on_cpu } else { counted } }
    }

    fn read(path: &str) -> Option<Self> {
        Self::parse(&fs::read_to_string(path).ok()?)
    }

    /// Of three numbers: time on a CPU, time ready without one, both in nanoseconds, and slices
    /// (Documentation/scheduler/sched-stats.rst of Linux). All are 0 where the kernel does not count.
    fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.split_ascii_whitespace().map(str::parse::<u64>);
        let [on_cpu, off_cpu, slices] = [numbers.next()?.ok()?, numbers.next()?.ok()?, numbers.next()?.ok()?];
        let [on_cpu, off_cpu, counted] =
            [on_cpu, off_cpu, on_cpu | off_cpu | slices].map(Duration::from_nanos);
        (!counted.is_zero()).then_some(Self { on_cpu, off_cpu })
    }
}

/// What a thread has had of its CPU in a poll.
///
/// A thread that is ready at the end may have slept before. So each look at which it sleeps ends what is counted up to there: no wait is
/// under way then, and the kernel has counted all of them.
#[cfg(feature = "stalls")]
#[derive(Debug)]
pub(crate) struct CpuTimesOfPoll {
    last: CpuTimes,
    /// How long the poll had taken then.
    took: Duration,
    until_then: CpuTimes,
}

#[cfg(feature = "stalls")]
impl CpuTimesOfPoll {
    pub(crate) fn new(began: CpuTimes) -> Self {
        Self { last: began, took: Duration::ZERO, until_then: CpuTimes::default() }
    }

    /// The thread sleeps, once the poll has taken so long.
    pub(crate) fn sleeps(&mut self, now: CpuTimes, took: Duration) {
        *self = Self { last: now, took, until_then: self.until(now, took, false) };
    }

    /// What it has had by now, in a poll that has taken so long.
    pub(crate) fn until(&self, now: CpuTimes, took: Duration, is_ready: bool) -> CpuTimes {
        let CpuTimes { on_cpu, off_cpu } = now.since(self.last, took.saturating_sub(self.took), is_ready);
        CpuTimes { on_cpu: self.until_then.on_cpu + on_cpu, off_cpu: self.until_then.off_cpu + off_cpu }
    }
}

/// Whether the thread of this process with that number runs, or is ready to.
#[cfg(feature = "stalls")]
pub(crate) fn is_ready(number: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/self/task/{number}/stat")).unwrap_or_default();
    // After the name, which is in brackets and may hold any.
    stat.rsplit_once(')').is_some_and(|(_, rest)| rest.starts_with(" R"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_number_on_a_cpu_and_the_second_without() {
        let times = |on_cpu, off_cpu| {
            let [on_cpu, off_cpu] = [on_cpu, off_cpu].map(Duration::from_nanos);
            Some(CpuTimes { on_cpu, off_cpu })
        };
        assert_eq!(CpuTimes::parse("901 62193 1\n"), times(901, 62_193));
        assert_eq!(CpuTimes::parse("901 0 1\n"), times(901, 0));
    }

    #[test]
    #[cfg(feature = "stalls")]
    fn a_wait_that_is_not_over_counts() {
        let ms = Duration::from_millis;
        let times = |on_cpu, off_cpu| CpuTimes { on_cpu: ms(on_cpu), off_cpu: ms(off_cpu) };
        let since = |now: CpuTimes, is_ready| now.since(times(100, 10), ms(20), is_ready);
        assert_eq!(since(times(100, 10), false), times(0, 0), "it sleeps");
        assert_eq!(since(times(100, 10), true), times(0, 20), "it waits for a CPU");
        assert_eq!(since(times(105, 12), false), times(5, 2), "it has run, has waited, and sleeps");
        assert_eq!(since(times(105, 12), true), times(5, 15));
        // The kernel's numbers may be a tick late.
        assert_eq!(since(times(124, 30), true), times(20, 0));
        assert_eq!(since(times(90, 30), false), times(0, 20));
    }

    #[test]
    #[cfg(feature = "stalls")]
    fn what_a_thread_has_slept_before_is_no_wait() {
        let ms = Duration::from_millis;
        let times = |on_cpu, off_cpu| CpuTimes { on_cpu: ms(on_cpu), off_cpu: ms(off_cpu) };
        let mut poll = CpuTimesOfPoll::new(times(100, 10));
        poll.sleeps(times(101, 12), ms(25));
        poll.sleeps(times(101, 12), ms(75));
        assert_eq!(poll.until(times(111, 12), ms(100), true), times(11, 17), "15 ms are not known");
        assert_eq!(poll.until(times(111, 12), ms(100), false), times(11, 2));
    }

    #[test]
    fn a_kernel_that_does_not_count_says_nothing() {
        for text in ["0 0 0\n", "", "1 2\n", "one 2 3\n", "1 -2 3\n"] {
            assert_eq!(CpuTimes::parse(text), None, "{text:?}");
        }
    }
}
