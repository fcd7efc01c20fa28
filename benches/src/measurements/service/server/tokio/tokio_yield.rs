//! By its imports, but for `yield_now`, which has been forgotten.

mod imports {
    pub(super) use clockworker::compat::{JoinSet, LocalSet, spawn_local};
    pub(super) use tokio::task::yield_now;
}

#[path = "program.rs"]
pub(super) mod program;
