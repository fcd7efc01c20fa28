//! Foreground tasks beside background work: what `compare` and `priority` have in common.
//!
//! Foreground tasks arrive open-loop: another thread sends them at times drawn beforehand, and their latencies count from
//! the *intended* arrival, so that an executor that falls behind is not let off. Background tasks take what is left of the
//! thread.
//!
//! - *Queueing delay*: intended arrival until the start of the first poll.
//! - *Total latency*: intended arrival until the end of the last segment.
//! - *Background iterations*: polls of background work, a second.
//!
//! A task that has not ended when the drain limit is over counts as
//! [worst](crate::stats::spread::WORST): it is never left out.

pub(crate) mod lanes;
pub(crate) mod scene;
pub(crate) mod trial;
