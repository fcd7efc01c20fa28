//! Random programs, run on Clockworker and on a plain executor beside it, the *reference*.
//!
//! A [`Program`] is a list of [`Op`]s: spawns, wakes, aborts, dropped handles, queues made and closed, from outside, from
//! inside tasks, and from another thread. Each thread that is not the owner's is waited for before the program goes on, so
//! a program has one course on each executor, and a [seed](Program::from_seed) or a [string of bytes](Program::from_bytes)
//! names it.
//!
//! # What is compared
//!
//! Everything that a task or its joiner can see, in its order, with the virtual time of each: spawns, polls, drops of
//! futures and outputs, which of these happened on another thread, what join handles give, whether a queue's name was free.
//! At the end the executor is dropped, and every handle must have its answer. The order in which tasks are dropped with
//! their executor is nobody's business: there the events are compared without it.
//!
//! # What the reference is told
//!
//! Three things that it cannot know, taken from Clockworker's trace as it goes: which of several *queues* has the next poll
//! (that is EEVDF's choice), which *task* does, in a queue that is not FIFO (the scheduler's), and where a run that was to
//! end early did so. In a FIFO queue the reference decides the task by itself, whatever it is told, and a run that ended
//! for want of work must find none left here. So with one FIFO queue the whole order is compared, with several the order in
//! each of them.
//!
//! # What is not
//!
//! Whether EEVDF and the schedulers choose well: `schedulers/tests/eevdf/` and the laws are about that. Destructors wake,
//! spawn and panic, but do nothing from another thread and abort nothing: which of two batches of
//! the inbox that comes in depends on where a slice ends.

mod audit;
mod difference;
mod elsewhere;
mod event;
mod executor;
mod interpreter;
mod op;
mod outcome;
mod pair;
mod program;
mod reference;
mod subject;
mod task;
mod trace;

pub use audit::Audit;
pub use difference::Difference;
pub use event::{End, Entry, Event};
pub use op::{On, Op, Script, TaskName};
pub use outcome::Outcome;
pub use pair::{Pair, Stage, check, run_clockworker};
pub use program::{Numbering, Program};
