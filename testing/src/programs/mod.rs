//! Random programs, and what must hold of each: one grammar, three oracles.
//!
//! A [`Program`] is a list of operations, made of bytes, which a seed, a fuzzer or a test decides. Its tasks spawn, wake, abort,
//! join, panic and drop, from outside, from inside tasks, from destructors and from other threads; queues and groups are
//! created, changed and closed under them.
//!
//! # Kinds
//!
//! | [`Kind`] | what is in it | what it is for |
//! |---|---|---|
//! | `Compared` | what the reference executor can do too | [`play`] |
//! | `Everything` | also nested, capped, limited and retired queues, groups, loans, join sets, spawns that wait for room, wakers that panic, runs that are dropped midway | [`run`], in any host, and with free threads |
//! | `Hostile` | the same beside a queue whose scheduler is hostile | the same |
//!
//! # Oracles
//!
//! * **The reference** ([`play`]): a plain executor made of `async-task` runs the program too, step by step. All that a task or
//!   its joiner can see is compared, in its order, with the virtual time of each event. Three things are taken from Clockworker's
//!   trace: which of several *queues* has the next poll, which *task* does in a queue that is not FIFO, and where a run that was to
//!   end early did so. So with one FIFO queue the whole order is compared, with several the order in each of them. The order in
//!   which tasks are dropped with their executor is not.
//! * **The audit** ([`Audit`]) of a trace: futures and outputs are dropped once, where they belong; no poll after the end, none
//!   without a wake, no wake without a poll; no poll of its queue between an abort and the drop; each handle answers; and the
//!   executor's accounts are what was seen: tasks by how they ended, polls, and time, each nanosecond of which is billed once.
//! * **The scheduler's contract**: a fault is reported if and only if there was one, and then the scheduler is not called again.
//!
//! A program without free threads has one course: the thread beside the executor is waited for. So [`run`] gives the same
//! each time, in every host.

mod clockworker;
pub mod containment;
mod event;
mod grammar;
mod interpreter;
mod join;
mod op;
mod outcome;
mod pair;
mod plan;
mod program;
mod reference;
mod subject;
mod table;
mod task;
mod threads;
mod waits;

pub use event::Actor;
pub use op::Thread;
pub use outcome::{Audit, Outcome, Phase};
pub use pair::{play, run};
pub use program::{Kind, Program, random_bytes, round, shrunk};
