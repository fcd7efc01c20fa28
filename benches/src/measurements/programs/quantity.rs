//! What is measured of a program.

use crate::numbers::{self, three_digits};

#[derive(Clone, Copy, Debug)]
pub(super) struct Quantity {
    pub(super) key: &'static str,
    pub(super) title: &'static str,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Time,
    Tail,
    /// Bytes of the process.
    Memory,
    /// Bytes of the process that are there for one of many.
    MemoryEach,
    /// A number that explains the others: less of it is not what a program's user wants.
    Count,
}

const fn quantity(key: &'static str, title: &'static str, kind: Kind) -> Quantity {
    Quantity { key, title, kind }
}

pub(super) const TIME: Quantity = quantity("time_ns", "time", Kind::Time);
/// CPU time of the executor's thread, where the wall clock would measure how long tasks want to sleep.
pub(super) const CPU_TIME: Quantity = quantity("cpu_time_ns", "CPU time", Kind::Time);
/// Wall time per poll of tasks that always have work.
pub(super) const TIME_PER_POLL: Quantity = quantity("time_per_poll_ns", "time per poll", Kind::Time);
pub(super) const P99: Quantity = quantity("p99_ns", "p99", Kind::Tail);
pub(super) const P999: Quantity = quantity("p999_ns", "p99.9", Kind::Tail);
pub(super) const POLLS_PER_BATCH: Quantity = quantity("polls_per_batch", "polls per batch", Kind::Count);
pub(super) const MEMORY: Quantity = quantity("memory_bytes", "memory", Kind::Memory);
pub(super) const MEMORY_EACH: Quantity = quantity("memory_each_bytes", "memory each", Kind::MemoryEach);

/// All of them, in the order of the table.
pub(super) const ALL: [Quantity; 8] =
    [TIME, CPU_TIME, TIME_PER_POLL, P99, P999, POLLS_PER_BATCH, MEMORY, MEMORY_EACH];

impl Quantity {
    pub(super) fn is_time(self) -> bool {
        self.kind == Kind::Time
    }

    pub(super) fn is_judged(self) -> bool {
        self.kind != Kind::Count
    }

    pub(super) fn show(self, value: f64) -> String {
        match self.kind {
            Kind::Time | Kind::Tail => numbers::time(value),
            Kind::Memory => format!("{} MiB", three_digits(value / f64::from(1 << 20))),
            Kind::MemoryEach => format!("{} B", three_digits(value)),
            Kind::Count => three_digits(value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_their_unit() {
        let shown =
            [TIME.show(1_234_567.0), MEMORY.show(3e6), MEMORY_EACH.show(1_234.5), POLLS_PER_BATCH.show(2.5)];
        assert_eq!(shown, ["1.23 ms", "2.86 MiB", "1234 B", "2.50"]);
    }
}
