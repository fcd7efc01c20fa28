//! How long a thread waited for a processor.

use std::time::Duration;

/// For how long this thread was ready to run and had no processor, since it began: other threads or other machines had it. None but on
/// Linux: the file is nowhere else.
pub(crate) fn off_cpu() -> Option<Duration> {
    waited(&std::fs::read_to_string("/proc/thread-self/schedstat").ok()?)
}

/// The second of three numbers: time on a processor, time ready without one, both in nanoseconds, and slices
/// (Documentation/scheduler/sched-stats.rst of Linux). All are 0 where the kernel does not count.
fn waited(text: &str) -> Option<Duration> {
    let mut numbers = text.split_ascii_whitespace().map(str::parse::<u64>);
    let (on_cpu, waited) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
    let slices = numbers.next()?.ok()?;
    ((on_cpu, waited, slices) != (0, 0, 0)).then(|| Duration::from_nanos(waited))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_number_counts() {
        assert_eq!(waited("901 62193 1\n"), Some(Duration::from_nanos(62_193)));
        assert_eq!(waited("901 0 1\n"), Some(Duration::ZERO));
    }

    #[test]
    fn a_kernel_that_does_not_count_says_nothing() {
        for text in ["0 0 0\n", "", "1 2\n", "one 2 3\n", "1 -2 3\n"] {
            assert_eq!(waited(text), None, "{text:?}");
        }
    }
}
