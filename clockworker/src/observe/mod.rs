//! What an executor can tell of itself: how long tasks wait and run, and what happened when.
//!
//! With the feature `observe`. [`Executor::observe`](crate::Executor::observe) says what is observed, at any time; until then nothing
//! is. What comes of it is plain data: it is yours once you have it, and none of it refers to the executor.

mod dump;
mod event;
mod histogram;
mod latency;
mod observation;
mod off_cpu;
mod queue_frames;
mod timeline;
mod wakes;

pub use dump::{DumpedTask, TaskDump, TaskState};
pub use event::{Event, EventKind, PollOutcome, ReadyReason, SliceEndReason, TaskRef};
pub use histogram::{Bucket, Histogram};
pub use latency::{GroupLatency, Latency, LongPoll, TurnLatency};
pub use observation::{Observation, ObservationError};
pub use queue_frames::QueueFrames;
pub use timeline::{Timeline, TimelineQueue};
pub use wakes::Wakes;

pub(crate) use off_cpu::off_cpu;

pub use crate::task::{TaskEnd, TaskHooks, TaskMeta};
