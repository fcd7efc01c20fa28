//! Scheduling policies for the Clockworker executor, as plain data structures.
//!
//! Nothing here knows of futures, wakers, threads or clocks: nanoseconds go in, decisions come out, so each decision can
//! be tested to the last bit. There is no `unsafe`, no floating point and no dependency (but in the simulator, which
//! calculates, and is off by default).
//!
//! Two levels decide what runs next:
//!
//! 1. **Between queues**, [`Eevdf`] picks the queue that is owed service and has the earliest virtual deadline.
//! 2. **Inside a queue**, a [`Scheduler`] orders the ready tasks.
//!
//! # The policies
//!
//! *R* is the number of ready tasks, *L* of unfinished ones, *G* of groups, *N* = 32 unless configured, and the wait is
//! the most pops that a ready task can see before it is popped itself; under [`Las`], [`Qlas`] and [`Serpt`] where polls take equally
//! long, else it is that in [service](FairTurns#when-the-next-one-comes).
//!
//! | Policy | Order | Push and pop | Reads a clock | Wait |
//! |---|---|---|---|---|
//! | [`WokenFirst`] | woken before yielded, else of becoming ready | O(1) | no | 32·*R* |
//! | [`RunnableFifo`] | of becoming ready | O(1) | no | *R* |
//! | [`ArrivalFifo`] | of being spawned | O(1) | no | 2·*N*·*L* |
//! | [`Las`] | least attained service first, to 1 µs or 1/64; turns among equals; half is forgotten with each second of service | O(1) | yes | *N*·*G*·(tasks ahead in the group + 1) |
//! | [`Qlas`] | the same in powers of two, FIFO within a power | O(1) | yes | *N*·(levels in use)·(tasks ahead in the level + 1) |
//! | [`Serpt`] | least expected to remain, learnt from those that ended; FIFO among equals | O(1) | yes | as [`Qlas`] |
//!
//! Which one? [`WokenFirst`] unless there is a reason. [`RunnableFifo`] where every task is to have its turn, whatever the others
//! wait for. [`Qlas`] where a few long tasks or greedy tenants keep many short
//! ones waiting. [`Serpt`] where, besides, the long ones are to end soon, one after another, and sizes tomorrow are like
//! those of today. [`Las`] where sizes have a heavy tail: where they come in two kinds, it is much worse for the long ones.
//! [`ArrivalFifo`] where tasks are of like size and finishing begun work comes first.
//! Tenants that always have work get equal service under [`Las`], and under [`Qlas`] and [`Serpt`] if they are sixteen at most.
//!
//! # Your own policy
//!
//! Implement [`Scheduler`]: two methods suffice, and under a hundred lines of safe code make a useful one. Here, each
//! group is served in turn, whatever the number of its tasks:
//!
//! ```
//! use std::collections::VecDeque;
//! use clockworker_schedulers::{GroupId, Ready, Scheduler, Task, TaskId};
//!
//! /// Round-robin over groups, FIFO inside each.
//! #[derive(Default)]
//! struct TurnByTurn {
//!     /// Groups that have ready tasks, in the order of their turns.
//!     turns: VecDeque<GroupId>,
//!     /// Each group's ready tasks, by group index: ids are dense, so no map is needed.
//!     ready: Vec<VecDeque<TaskId>>,
//! }
//!
//! impl Scheduler for TurnByTurn {
//!     const NEEDS_SERVICE: bool = false;
//!
//!     fn push(&mut self, task: Task, _why: Ready) {
//!         let group = task.group.index();
//!         if group >= self.ready.len() {
//!             self.ready.resize_with(group + 1, VecDeque::new);
//!         }
//!         if self.ready[group].is_empty() {
//!             self.turns.push_back(task.group);
//!         }
//!         self.ready[group].push_back(task.id);
//!     }
//!
//!     fn pop(&mut self) -> Option<TaskId> {
//!         let group = self.turns.pop_front()?;
//!         let tasks = &mut self.ready[group.index()];
//!         let next = tasks.pop_front();
//!         if !tasks.is_empty() {
//!             self.turns.push_back(group);
//!         }
//!         next
//!     }
//! }
//!
//! # #[cfg(feature = "laws")] {
//! // In its tests: nothing lost, repeated or invented, and no task waits for long.
//! clockworker_schedulers::laws::Laws::new(TurnByTurn::default).check().unwrap();
//! # }
//! ```
//!
//! # Features
//!
//! - `laws`: the laws that every policy must pass, as a test kit for authors of their own (module `laws`). Off by
//!   default, and meant for `dev-dependencies`.
//! - `simulate`: the policies in virtual time, and what queueing theory says of them (module `simulate`). Off by default. The
//!   program `clockworker-simulate` asks them.

#![forbid(unsafe_code)]

mod attributes;
mod scheduler;
mod task;

mod eevdf;
mod parts;
mod policies;

#[cfg(any(test, feature = "laws"))]
pub mod laws;

#[cfg(feature = "simulate")]
pub mod simulate;

#[cfg(any(test, feature = "laws", feature = "simulate"))]
mod random;

pub use attributes::Attributes;
pub use eevdf::{Eevdf, Lag, QueueId, Share, ShareError, VirtualTime};
pub use parts::fair_turns::FairTurns;
pub use policies::{ArrivalFifo, Las, Qlas, RunnableFifo, Serpt, WokenFirst};
pub use scheduler::Scheduler;
pub use task::{GroupId, Ready, Task, TaskId};
