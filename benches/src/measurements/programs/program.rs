//! A program: one function, compiled with two sets of imports, and what is measured of it.

use crate::harness::{Pinning, Unit};

#[derive(Debug)]
pub(super) struct Program {
    pub(super) key: &'static str,
    pub(super) title: &'static str,
    pub(super) base: &'static str,
    pub(super) quantities: &'static [Quantity],
    /// Whether it is run in a process of its own, of which nothing has been used before.
    pub(super) apart: bool,
    /// Runs it once; a number for each of its quantities.
    pub(super) run: fn(&Setting) -> Vec<f64>,
}

impl Program {
    pub(super) const fn new(key: &'static str, title: &'static str, run: fn(&Setting) -> Vec<f64>) -> Self {
        Program { key, title, base: "LocalSet", quantities: &[TIME], apart: false, run }
    }

    pub(super) const fn measuring(self, quantities: &'static [Quantity]) -> Self {
        Program { quantities, ..self }
    }

    pub(super) const fn apart(self) -> Self {
        Program { apart: true, ..self }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Setting {
    pub(super) quick: bool,
    pub(super) seed: u64,
    pub(super) pinning: Pinning,
}

impl Setting {
    pub(super) fn size(&self, usual: usize, quick: usize) -> usize {
        if self.quick { quick } else { usual }
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Quantity {
    pub(super) key: &'static str,
    pub(super) title: &'static str,
    pub(super) unit: Unit,
}

const fn quantity(key: &'static str, title: &'static str, unit: Unit) -> Quantity {
    Quantity { key, title, unit }
}

pub(super) const TIME: Quantity = quantity("time_ns", "time", Unit::Nanos);
/// CPU time of the executor's thread, where the wall clock would measure how long tasks want to sleep.
pub(super) const CPU_TIME: Quantity = quantity("cpu_time_ns", "CPU time", Unit::Nanos);
pub(super) const TIME_PER_POLL: Quantity = quantity("time_per_poll_ns", "time per poll", Unit::Nanos);
pub(super) const P99: Quantity = quantity("p99_ns", "p99", Unit::Nanos);
pub(super) const MEMORY: Quantity = quantity("memory_bytes", "memory", Unit::Bytes);
pub(super) const MEMORY_EACH: Quantity = quantity("memory_each_bytes", "memory each", Unit::Bytes);

/// All quantities, in the order of the table.
pub(super) const QUANTITIES: [Quantity; 6] = [TIME, CPU_TIME, TIME_PER_POLL, P99, MEMORY, MEMORY_EACH];
