//! What an executor can tell of itself: how long tasks wait and run, and what happened when.
//!
//! With the feature `observe`. Plain data: everything here is yours once you have it, and none of it refers to the executor.

mod event;
mod histogram;
mod timeline;

pub use event::{Event, EventKind, PollOutcome, ReadyReason, SliceEndReason, TaskRef};
pub use histogram::{Bucket, Histogram};
pub use timeline::{Timeline, TimelineQueue};
