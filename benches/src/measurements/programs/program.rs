//! A program: one function, compiled with two sets of imports, and what is measured of it.

use clap::ValueEnum;

use crate::harness::{Common, Pinning};
use crate::numbers::{self, three_digits};

#[derive(Debug)]
pub(super) struct Program {
    pub(super) key: &'static str,
    pub(super) title: &'static str,
    pub(super) base: &'static str,
    pub(super) quantities: &'static [Quantity],
    /// Whether it is run in a process of its own, of which nothing has been used before.
    pub(super) apart: bool,
    pub(super) limit: f64,
    /// Runs it once; a number for each of its quantities.
    pub(super) run: fn(&Setting) -> Vec<f64>,
}

impl Program {
    pub(super) const fn new(key: &'static str, title: &'static str, run: fn(&Setting) -> Vec<f64>) -> Self {
        Program { key, title, base: "LocalSet", quantities: &[TIME], apart: false, limit: 1.05, run }
    }

    pub(super) const fn measuring(self, quantities: &'static [Quantity]) -> Self {
        Program { quantities, ..self }
    }

    pub(super) const fn apart(self) -> Self {
        Program { apart: true, ..self }
    }

    pub(super) const fn within(self, limit: f64) -> Self {
        Program { limit, ..self }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Arm {
    /// Those of what it was written for
    Base,
    /// Clockworker's
    Clockworker,
}

impl Arm {
    /// Those of a round. The base that comes twice shows the noise.
    pub(super) const ALL: [Arm; 3] = [Arm::Base, Arm::Base, Arm::Clockworker];

    pub(super) fn key(self) -> &'static str {
        match self {
            Arm::Base => "base",
            Arm::Clockworker => "clockworker",
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Setting {
    pub(super) common: Common,
    pub(super) pinning: Pinning,
}

impl Setting {
    pub(super) fn size(&self, usual: usize, quick: usize) -> usize {
        if self.common.quick { quick } else { usual }
    }
}

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
    Memory,
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
pub(super) const TIME_PER_POLL: Quantity = quantity("time_per_poll_ns", "time per poll", Kind::Time);
pub(super) const P99: Quantity = quantity("p99_ns", "p99", Kind::Tail);
pub(super) const P999: Quantity = quantity("p999_ns", "p99.9", Kind::Tail);
pub(super) const POLLS_PER_BATCH: Quantity = quantity("polls_per_batch", "polls per batch", Kind::Count);
pub(super) const MEMORY: Quantity = quantity("memory_bytes", "memory", Kind::Memory);
pub(super) const MEMORY_EACH: Quantity = quantity("memory_each_bytes", "memory each", Kind::MemoryEach);

/// All quantities, in the order of the table.
pub(super) const QUANTITIES: [Quantity; 8] =
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
