//! What is measured of a program.

use crate::numbers;

/// One of the numbers that a program gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Wall time from beginning to end.
    Time,
    /// CPU time of the executor's thread, where the wall clock would measure how long tasks want to sleep.
    CpuTime,
    /// Wall time per poll of tasks that always have work.
    TimePerPoll,
    /// 99 of 100 waits are no longer.
    P99,
    /// 999 of 1,000 waits are no longer.
    P999,
    /// Memory of the process.
    Memory,
    /// Memory of the process that is there for one of many.
    MemoryEach,
    /// Polls for each batch.
    PollsPerBatch,
}

impl Quantity {
    /// All of them, in the order of the table.
    pub const ALL: [Quantity; 8] = [
        Quantity::Time,
        Quantity::CpuTime,
        Quantity::TimePerPoll,
        Quantity::P99,
        Quantity::P999,
        Quantity::PollsPerBatch,
        Quantity::Memory,
        Quantity::MemoryEach,
    ];

    fn names(self) -> (&'static str, &'static str) {
        match self {
            Quantity::Time => ("time_ns", "time"),
            Quantity::CpuTime => ("cpu_time_ns", "CPU time"),
            Quantity::TimePerPoll => ("time_per_poll_ns", "time per poll"),
            Quantity::P99 => ("p99_ns", "p99"),
            Quantity::P999 => ("p999_ns", "p99.9"),
            Quantity::Memory => ("memory_bytes", "memory"),
            Quantity::MemoryEach => ("memory_each_bytes", "memory each"),
            Quantity::PollsPerBatch => ("polls_per_batch", "polls per batch"),
        }
    }

    /// Its name in the file of results.
    pub fn key(self) -> &'static str {
        self.names().0
    }

    /// Its name for people.
    pub fn title(self) -> &'static str {
        self.names().1
    }

    /// Whether it is the time of the whole, and no tail.
    pub fn is_time(self) -> bool {
        matches!(self, Quantity::Time | Quantity::CpuTime | Quantity::TimePerPoll)
    }

    /// Whether less of it is what a program's user wants, so that there is a bar for it.
    pub fn is_judged(self) -> bool {
        self != Quantity::PollsPerBatch
    }

    /// A value with its unit.
    pub fn show(self, value: f64) -> String {
        match self {
            Quantity::Memory => format!("{} MiB", numbers::three_digits(value / f64::from(1 << 20))),
            Quantity::MemoryEach => format!("{} B", numbers::three_digits(value)),
            Quantity::PollsPerBatch => numbers::three_digits(value),
            _ => numbers::time(value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_their_unit() {
        let shown = [
            Quantity::Time.show(1_234_567.0),
            Quantity::Memory.show(3e6),
            Quantity::MemoryEach.show(1_234.5),
            Quantity::PollsPerBatch.show(2.5),
        ];
        assert_eq!(shown, ["1.23 ms", "2.86 MiB", "1234 B", "2.50"]);
    }
}
