//! Clockworker keeps a single-threaded async Rust service fast while the same thread does other work.
//!
//! It is an executor of `!Send` tasks in several queues, and runs inside tokio's `LocalRuntime` or `LocalSet`, monoio, smol or any
//! other host, or alone.
//!
//! Two levels decide what runs next:
//!
//! 1. **Between queues: EEVDF.** Each [`Queue`] has a share of the thread's CPU. Of the queues that are owed service, the one
//!    with the earliest virtual deadline gets the next slice. A queue may be [capped](Cap), or
//!    [idle](QueueBuilder::idle): then it runs when no other has work.
//! 2. **Inside a queue: a [scheduler](schedulers::Scheduler)**: woken before yielded ([`WokenFirst`](schedulers::WokenFirst),
//!    the default), order of becoming runnable ([`RunnableFifo`](schedulers::RunnableFifo)), least attained service
//!    ([`Las`](schedulers::Las)), the same quantised ([`Qlas`](schedulers::Qlas)), shortest expected remaining time
//!    ([`Serpt`](schedulers::Serpt)), each group its share ([`FairGroups`](schedulers::FairGroups)), what is said of
//!    a task or its group ([`Priority`](schedulers::Priority), [`Deadline`](schedulers::Deadline)), or your own.
//!
//! Clockworker is an executor, not a runtime: I/O and timers are its host's. It runs there as one future.
//!
//! ```
//! use clockworker::{Executor, schedulers::Qlas};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let ex = Executor::new(); // one queue, WokenFirst
//! let foreground = ex.new_queue("foreground").share(9).create()?;
//! let background = ex.new_queue("background").share(1).scheduler(Qlas::new()).create()?;
//!
//! // `run_until` is a future for any host; `block_on` needs none.
//! ex.block_on(async {
//!     let tenant = background.group(7);
//!     tenant.spawn(async { /* compaction, in the background, on behalf of tenant 7 */ });
//!     let answer = foreground.spawn(async { 42 }).await?;
//!     assert_eq!(answer, 42);
//!     clockworker::spawn_local(async { /* beside the calling task */ });
//!     Ok::<_, clockworker::JoinError>(())
//! })?;
//! # Ok(())
//! # }
//! ```
//!
//! # Hosts
//!
//! | Host | How | Note |
//! |---|---|---|
//! | tokio `current_thread` | `rt.block_on(ex.run_until(…))` | |
//! | tokio `LocalRuntime`, `#[tokio::main(flavor = "local")]` | `ex.run_until(…).await` | from tokio 1.51 on |
//! | tokio `multi_thread` | the same: `block_on` keeps to its thread | |
//! | tokio `LocalSet` | `run_until` in it, or in a `spawn_local` task | |
//! | monoio (io_uring, legacy) | `rt.block_on(clockworker::monoio::with_timers(ex.run_until(…)))` | turn on the feature `monoio`. Without `with_timers`, monoio 0.2.4 serves its sockets beside a busy executor, but fires no timers (monoio issue 370) and runs no other task; and without monoio's own feature `sync`, which the feature `monoio` turns on, not even its sockets |
//! | tokio-uring | `tokio_uring::start(ex.run_until(…))` | it hands I/O to the kernel only when its thread parks. While tasks are ready all the time it never does, so their I/O does not begin: [cap](QueueBuilder::cap) queues that never rest |
//! | smol, futures, … | `smol::block_on(ex.run_until(…))` | |
//! | a loop that is not async | [`Executor::run_for`], step by step | timers and I/O are the loop's |
//! | none | [`Executor::block_on`] | no timers, no I/O |
//!
//! # Cooperation
//!
//! A poll cannot be cut short. Slices, shares and the host's share of the thread are exact to one poll, so keep polls short:
//! split long computations with [`yield_if_due`], which costs a clock reading (some ten nanoseconds) when nothing is due.
//!
//! A future that returns `Pending` and arranges for no wake is not polled again, as under any executor.
//! Its task stays until it is aborted: it counts in [`max_live`](QueueBuilder::max_live), and a [drain](Executor::drain) waits for it
//! until the deadline. To find it, turn on the feature `observe`: [`Executor::look_at_tasks`], and the dump of
//! `clockworker-observe`, say of each task where it was spawned and since when it waits.
//!
//! # Features
//!
//! * `tokio`, on by default: for executors that run inside tokio. Renews tokio's cooperative budget, so that no task's use of tokio
//!   resources stalls its neighbours; the module `compat`, a drop-in for tokio's `LocalSet`; and `TokioClock`, for tests that pause tokio's
//!   time. On monoio, on smol and alone `default-features = false` spares the dependency.
//! * `monoio`: the module `monoio`, for executors that run inside monoio. Linux only: it is empty elsewhere.
//! * `laws`: the module `schedulers::laws`, which tests a scheduler of your own.
//! * `observe`: [`Executor::set_probe`], by which the crate `clockworker-observe` listens ([`probe`]), and with it names of tasks and where they
//!   were spawned.

#![deny(unsafe_code)]

// Used by everything else.
mod base;
mod sync;

// What a task goes through. Each folder imports only from those before it: task, queue, run, host.
mod host;
mod queue;
mod run;
#[allow(unsafe_code, reason = "the task cell, and the links between cells")]
mod task;

// What a user holds.
mod abort_on_drop;
mod builder;
mod current_tag;
mod executor;
mod futures_spawn;
mod gone_error;
mod group;
mod group_builder;
mod handle;
mod join_set;
mod large;
mod move_to;
#[cfg(feature = "observe")]
mod probing;
mod queue_builder;
mod queue_handle;
mod remote_task_builder;
mod shutdown;
mod spawn_when_room;
mod task_builder;
mod try_spawn;
mod yield_now;

// The same under tokio's names.
#[cfg(feature = "tokio")]
pub mod compat;

// Tests of what several threads do, in all orders.
#[cfg(all(test, clockworker_loom))]
mod models;
#[cfg(all(test, clockworker_shuttle))]
mod scenes;

/// The policies, re-exported: everything needed to choose a scheduler or write one.
pub use clockworker_schedulers as schedulers;
pub use clockworker_schedulers::{Cap, CapError, MAX_DEPTH};

pub use abort_on_drop::AbortOnDropHandle;
#[cfg(feature = "tokio")]
pub use base::{DEFAULT_POLL_CHARGE, NoTimersError, TokioClock};
pub use base::{ManualClock, UnhandledPanic};
pub use builder::{BuildError, Builder, DEFAULT_POLL_CAP, DEFAULT_QUEUE};
pub use current_tag::current_tag;
pub use executor::{EnterGuard, Executor, spawn_local};
pub use gone_error::GoneError;
pub use group::{Group, group_key};
pub use group_builder::GroupBuilder;
pub use handle::Handle;
#[cfg(all(feature = "monoio", target_os = "linux"))]
pub use host::monoio;
pub use host::{RunUntil, Step};
pub use join_set::{JoinSet, SpawnLocal};
pub use move_to::{MoveTo, move_to};
pub use queue::{GroupError, MoveError, PolicyFault, QueueError};
pub use queue_builder::{DEFAULT_REQUEST, QueueBuilder};
pub use queue_handle::Queue;
pub use remote_task_builder::RemoteTaskBuilder;
pub use run::{ExecutorStats, GroupStats, HOST_BUDGETS, QueueStats};
pub use shutdown::ShutdownReport;
pub use spawn_when_room::SpawnWhenRoom;
pub use task::probe;
pub use task::{AbortHandle, Id, JoinError, JoinHandle};
pub use task_builder::{TaskBuilder, new_task};
pub use try_spawn::TrySpawnError;
pub use yield_now::{YieldIfDue, YieldNow, should_yield, yield_if_due, yield_now};
