//! By its imports alone.

mod imports {
    pub(super) use clockworker::compat::{JoinSet, LocalSet, spawn_local, yield_now};
}

#[path = "program.rs"]
pub(super) mod program;
