//! How many tasks, and how often each yields.

use std::fmt;

use crate::numbers::grouped;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The number of tasks, all spawned before any is awaited.
    pub tasks: usize,
    pub yields: u32,
}

impl Shape {
    pub const fn new(tasks: usize, yields: u32) -> Self {
        Shape { tasks, yields }
    }

    /// Polls that one run takes, at the least: tasks × (yields + 1).
    pub fn polls(self) -> u64 {
        self.tasks as u64 * (u64::from(self.yields) + 1)
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} × {}", grouped(self.tasks as u64), grouped(u64::from(self.yields)))
    }
}
