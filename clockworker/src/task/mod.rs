//! The task cell: a spawned future and its header in one piece of memory, everything that refers to it, and the [inbox] that brings
//! it back from other threads. The home of the executor's `unsafe`. Where cells come from is in [pool].
//!
//! # Who may hold a cell
//!
//! | Holder | Counted | May be on | What it can do |
//! |---|---|---|---|
//! | [`LiveTask`], in the queue's record | its own references: see *Lent references* | owner thread | cancel, read scheduling fields |
//! | [`Runnable`], in the queue's slice | none: the `LiveTask` is held while there is one | owner thread | poll, complete |
//! | [`JoinHandle`] | one reference | any, if the output is `Send` | read the output, register who is told, abort |
//! | [`AbortHandle`] | one reference | any | abort, ask whether it is finished |
//! | [`Waker`](std::task::Waker) | one reference each | any | wake |
//! | the waker lent to a poll | none: the record outlives the poll | any, until the poll returns | wake, be cloned |
//! | a link in a queue's arrivals or the inbox | none: see *Release* | – | – |
//! | a link in a set's [list](FinishedTasks) of finished tasks | one reference | any | give the set its place |
//!
//! # The fields, and who may touch them
//!
//! * `state`: one atomic word of flags and the reference count; any thread. Its transitions, in `state.rs`, only decide, and
//!   return what is to be done; the callers do it.
//! * `owned` (phase, record, polled_in, tally): plain cells, owner thread only; but that `output_taken` is the join handle's, on
//!   any thread.
//! * `later`: the link of its queue's arrivals, owner thread only.
//! * `next`: the inbox link. It belongs to the thread that set `NOTIFIED`, until the inbox hands the task to the owner.
//! * `joiner`: belongs to the join handle while `HAS_JOINER` is clear and the task is not complete; to the completer from the moment
//!   `COMPLETE` is set on top of `HAS_JOINER`. Where it is a set, the completer pushes the task onto the set's list, by a link in the
//!   same place: then it is the list's.
//! * the stage (future, then output): the owner thread until `COMPLETE`; afterwards the join handle while there is one,
//!   else the completer. So a `!Send` future is polled and dropped on the owner thread only, and a `!Send` output never
//!   leaves it, because a `JoinHandle` of a `!Send` output is itself `!Send`. Wakers and abort handles never reach the
//!   stage at all.
//!
//! # Flags
//!
//! | Flag | Set by | Cleared by | While set |
//! |---|---|---|---|
//! | `NOTIFIED` | the first wake from another thread, any abort, the completer | the owner, draining the inbox | the task is in the inbox or about to be; further wakes from other threads only synchronise |
//! | `COMPLETE` | the owner | never | the stage holds the output or nothing; `NOTIFIED` stays set for good, so no thread pushes the task again |
//! | `HAS_JOINER` | the join handle | the join handle | `joiner` holds who is told of the task's end |
//! | `JOIN_INTEREST` | spawn | dropping the join handle before completion | a join handle may want the output |
//! | `ABORTED` | any abort | never | the owner drops the future when it takes the task out of the inbox |
//!
//! A wake *on the owner thread* does not touch `state`: it sets the plain `owned.phase`. So a yield takes no atomic
//! read-modify-write, no lock, no allocation.
//!
//! # Lent references
//!
//! Until its task completes, a record has more references than it needs. On the owner thread it lends them to wakers and handles, and
//! takes them back: it counts what it has lent in `owned.tally`, so neither is an atomic operation. References are all alike: one that
//! was lent may be given up on another thread, atomically, and one that was counted there may be taken back by the record. On
//! completion the record keeps one and gives up the others that it has not lent, in the step that sets `COMPLETE`; from then on all
//! holders count atomically. (The idea is that of biased reference counting: J. Choi, T. Shull, J. Torrellas, PACT 2018.)
//!
//! While nothing has happened to a task but its spawn, its record and its join handle are on one thread, and it is not being polled, no
//! other thread can reach `state`. Then registering a joiner, and dropping the handle, are plain stores.
//!
//! # Release
//!
//! The record's last reference may only go when no list points at the cell. When a task completes it may still be among the
//! arrivals of its queue (it was cancelled after a wake) or in the inbox (another thread woke or aborted it). `LiveTask::complete` counts
//! those links in `owned.tally`, with one for itself until it has told the joiner. The last of them to go releases the reference, or
//! gives it to a set's list. Once the inbox is closed, a waking thread whose push is refused releases it instead.
//!
//! A detached task to which no list points and whose only holder is its record is not marked as complete, as that could not be seen: its
//! output is dropped and its cell freed.

mod abort;
mod arrival_list;
mod arrivals;
mod cell;
pub(crate) mod coop;
mod error;
mod finished;
mod header;
mod host_waker;
mod id;
mod inbox;
mod join;
mod joiner;
mod label;
mod listening;
mod live;
mod main_flag;
mod owner;
mod owner_ref;
mod pool;
pub mod probe;
mod request;
mod runnable;
mod shared;
mod shared_ref;
mod state;
mod treiber_stack;
mod waker;

pub use abort::AbortHandle;
pub use error::JoinError;
pub use id::Id;
pub use join::JoinHandle;

pub(crate) use arrival_list::ArrivalList;
pub(crate) use arrivals::Arrivals;
pub(crate) use cell::{refuse, spawn_here, spawn_remote};
pub(crate) use error::{Cause, Refused};
pub(crate) use finished::FinishedTasks;
pub(crate) use header::RecordKey;
pub(crate) use host_waker::HostWaker;
pub(crate) use inbox::Batch;
pub(crate) use label::Label;
pub(crate) use listening::ProbeCaller;
pub(crate) use live::{Finish, Incoming, LiveTask};
pub(crate) use owner::OwnerCell;
pub(crate) use owner_ref::{ArrivalListRef, OwnerRef};
pub(crate) use request::{Placement, TaskRequest};
pub(crate) use runnable::{Polling, Ran, Runnable};
pub(crate) use shared::{Local, Refuses, Shared, Stopped};
pub(crate) use shared_ref::{Credits, SharedRef};
