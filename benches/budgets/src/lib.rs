//! How many instructions and allocations each operation of the executor may take, and the check of it.
//!
//! Instructions are counted by callgrind, so they do not depend on the machine's speed or on what else it does, and the
//! same program gives the same counts. See `BUDGETS.md`.

pub mod budgets;
mod callgrind;
pub mod commands;
mod comparison;
pub mod operations;
pub mod region;
