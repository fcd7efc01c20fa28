//! Beside tokio, and in place of its `LocalSet`.
//!
//! A program written for tokio's `LocalSet` runs on Clockworker with only its imports changed: the modules in `drop_in/` are
//! compiled twice, once with `tokio::task`, once with `clockworker::compat`. Every assertion in them holds for both, so tokio
//! itself says what is right.

#![allow(clippy::duplicate_mod, reason = "that is the point")]

#[path = "../support/mod.rs"]
mod support;

mod blocking;
mod coop;
mod coop_host;
mod differences;
mod join_errors;
mod local_set;
mod local_set_runs;
mod paused;
mod third_party;
mod visits;

#[path = "drop_in"]
mod on_tokio {
    mod task {
        pub(super) use tokio::task::{
            AbortHandle, Id, JoinError, JoinHandle, JoinSet, LocalEnterGuard, LocalSet, id, spawn_local,
            try_id, yield_now,
        };
    }

    mod errors;
    mod ids;
    mod join_set;
    mod local_set;
    mod world;
}

#[path = "drop_in"]
mod on_clockworker {
    mod task {
        pub(super) use clockworker::compat::{
            AbortHandle, Id, JoinError, JoinHandle, JoinSet, LocalEnterGuard, LocalSet, id, spawn_local,
            try_id, yield_now,
        };
    }

    mod errors;
    mod ids;
    mod join_set;
    mod local_set;
    mod world;
}
