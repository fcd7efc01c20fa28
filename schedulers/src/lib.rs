//! Scheduling policies for the Clockworker executor, as plain data structures.
//!
//! Nothing here knows of futures, wakers, threads or clocks: nanoseconds go in, decisions come out, so each decision can
//! be tested to the last bit. There is no `unsafe`, no floating point and no dependency (but in the simulator, which
//! calculates, and is off by default).
//!
//! Two levels decide what runs next:
//!
//! 1. **Between queues**, [`QueueTree`] says which is served next, and until when. By [`Eevdf`] that is the queue that is owed service
//!    and has the earliest virtual deadline. A queue may have children, which divide what it gets in the same way; a [`Cap`]; or run
//!    only when no other has work.
//! 2. **Inside a queue**, a [`Scheduler`] orders the ready tasks.
//!
//! # The policies
//!
//! *R* is the number of ready tasks, *G* of groups, *N* = 32 unless configured, and the wait is
//! the most pops that a ready task can see before it is popped itself; under [`Las`], [`Qlas`] and [`Serpt`] where polls take equally
//! long, else it is that in [service](FairTurns#when-the-next-one-comes).
//!
//! | Policy | Order | Push and pop | Reads a clock | Wait |
//! |---|---|---|---|---|
//! | [`WokenFirst`] | woken before yielded, else of becoming ready | O(1) | no | 32·*R* |
//! | [`RunnableFifo`] | of becoming ready | O(1) | no | *R* |
//! | [`Las`] | least attained service first, to 1 µs or 1/64; turns among equals; half is forgotten with each second of service | O(1) | yes | *N*·*G*·(tasks ahead in the group + 1) |
//! | [`Qlas`] | the same in powers of two, FIFO within a power | O(1) | yes | *N*·(levels in use)·(groups ahead in the level + 1), [more](Qlas#starvation) in a group of several tasks |
//! | [`Serpt`] | least expected to remain, learnt from those that ended; FIFO among equals | O(1) | yes | as [`Qlas`] |
//! | [`Priority`] | highest priority first, as was said of the task or its group; FIFO among equals | O(1) | no | *N*·*R*, where low levels have long polls 1,024·*N*·*R* |
//! | [`Deadline`] | earliest deadline first, as was said of the task or its group; FIFO among the others, behind | O(log *R*) | no | of those without a deadline as [`Priority`]; else while there are earlier ones |
//! | [`FairGroups`] | of the groups by weight: least service / weight first, in turns of 16 µs; FIFO in a group | O(1), O(log *G*) at the end of a turn | yes | by service: [a turn](FairGroups#promises) of each other group, where weights are equal |
//!
//! Which one? [`WokenFirst`] unless there is a reason. [`FairGroups`] where groups are tenants, each of whom is to get its share. [`RunnableFifo`] where every task is to have its turn, whatever the others
//! wait for. [`Qlas`] where a few long tasks or greedy tenants keep many short
//! ones waiting. [`Serpt`] where, besides, the long ones are to end soon, one after another, and sizes tomorrow are like
//! those of today. [`Las`] where sizes have a heavy tail: where they come in two kinds, it is much worse for the long ones.
//! [`Priority`] where it is known beforehand what goes before what, [`Deadline`] where it is known by when.
//! Tenants that always have work get equal service under [`Las`], and under [`Qlas`] and [`Serpt`] if they are sixteen at most.
//!
//! # Your own policy
//!
//! Implement [`Scheduler`]: two methods suffice, and under a hundred lines of safe code make a useful one. Its page has three
//! examples: last in first out, weighted round robin by tag, and shortest expected poll first. The module `laws` (feature `laws`)
//! checks yours in its tests.
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
mod tree;

#[cfg(any(test, feature = "laws"))]
pub mod laws;

#[cfg(feature = "simulate")]
pub mod simulate;

#[cfg(any(test, feature = "laws", feature = "simulate"))]
mod random;

pub use attributes::Attributes;
pub use eevdf::{Eevdf, Lag, QueueId, Share, ShareError, VirtualTime};
pub use parts::fair_turns::FairTurns;
pub use policies::{Deadline, FairGroups, Las, Late, Priority, Qlas, RunnableFifo, Serpt, WokenFirst};
pub use scheduler::{ClockUse, Gone, Scheduler, Served, Subject};
pub use task::{GroupId, Ready, Task, TaskId};
pub use tree::{Cap, CapCounts, CapError, Effect, Grant, Left, MAX_DEPTH, QueueTree};
