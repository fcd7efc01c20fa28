//! A drop-in for tokio's `LocalSet`: the same names, over an [`Executor`](crate::Executor).
//!
//! Change the imports, and a program written for `tokio::task::LocalSet` runs on Clockworker:
//!
//! | Before | After |
//! |---|---|
//! | `use tokio::task::{LocalSet, spawn_local, JoinSet};` | `use clockworker::compat::{LocalSet, spawn_local, JoinSet};` |
//! | `tokio::task::{JoinHandle, AbortHandle, JoinError, Id, id, try_id}` | `clockworker::compat::{JoinHandle, AbortHandle, JoinError, Id, id, try_id}` |
//! | `tokio::runtime::UnhandledPanic` (unstable) | `clockworker::compat::UnhandledPanic` |
//!
//! `tokio::spawn`, `spawn_blocking`, timers, sockets, channels and the runtime itself stay tokio's.
//!
//! ```
//! use clockworker::compat::{LocalSet, spawn_local};
//!
//! let rt = tokio::runtime::Builder::new_current_thread().build().unwrap();
//! let local = LocalSet::new();
//! let answer = local.block_on(&rt, async {
//!     let not_send = std::rc::Rc::new(42);
//!     spawn_local(async move { *not_send }).await.unwrap()
//! });
//! assert_eq!(answer, 42);
//! ```
//!
//! [`LocalSet::executor`] gives the executor, whose queues divide the thread between foreground and background. What differs
//! from tokio's types, and why, is in the guide `docs/MIGRATION.md`.

mod local_set;

pub use local_set::LocalSet;

pub use crate::base::UnhandledPanic;
pub use crate::executor::{EnterGuard as LocalEnterGuard, spawn_local};
pub use crate::host::RunUntil;
pub use crate::join_set::JoinSet;
pub use crate::task::{AbortHandle, Id, JoinError, JoinHandle};
pub use crate::yield_now::yield_now;

/// The id of the task that runs.
///
/// # Panics
///
/// Outside a task; see [`try_id`].
#[track_caller]
pub fn id() -> Id {
    match Id::current() {
        Some(id) => id,
        None => panic!("`id` called outside a task: use `try_id` where that may be"),
    }
}

/// The id of the task that runs, if one does. See [`Id::current`].
pub fn try_id() -> Option<Id> {
    Id::current()
}

/// The guide's programs are tested with the docs.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/MIGRATION.md")]
struct MigrationGuide;
