//! What policies are made of.

pub(crate) mod by_index;
pub(crate) mod fair_turns;
pub(crate) mod ring;
pub(crate) mod task_lists;

/// Memory for so many tasks and groups stays when a queue has drained: half a mebibyte for a ring of ids. A policy gives back what
/// a larger burst took.
pub(crate) const KEPT: usize = 65_536;
