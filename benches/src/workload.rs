//! What the tasks do: the same futures for every arm.

pub mod self_waking;
pub mod spin;
