//! A program written for tokio's `LocalSet` runs on Clockworker with only its imports changed.
//!
//! The modules in `drop_in/` are compiled twice: once with `tokio::task`, once with `clockworker::compat`. Every
//! assertion in them holds for both, so tokio itself says what is right.

#![cfg(feature = "tokio")]
#![allow(clippy::duplicate_mod, reason = "that is the point")]

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
    mod support;
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
    mod support;
    mod world;
}
