//! As a program for tokio has it.

mod imports {
    pub(super) use tokio::task::{JoinSet, LocalSet, spawn_local, yield_now};
}

#[path = "program.rs"]
pub(super) mod program;
