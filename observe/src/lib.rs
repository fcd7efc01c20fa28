//! What an executor of [`clockworker`] tells of itself: how long tasks wait and run, what happened when, and which poll takes too long.
//!
//! [`Observe`] is what is asked of an executor, at any time; until then nothing is observed. What comes of it is plain data: it is yours
//! once you have it, and none of it refers to the executor.
//!
//! # Features
//!
//! * `stalls`: the module `stalls`, which reports polls that take too long while they run.
//! * `tracing`: `Observation::spans`: each task is a span, named and targeted as tokio's are: tokio-console shows the tasks with their
//!   queues.
//! * `timeline`: what is made of a [`Timeline`]: `write_perfetto` for [Perfetto](https://ui.perfetto.dev), `write_html` for a browser without
//!   network, `summary` in text, and `Workload` for another run in virtual time. `dial9`: `write_dial9`. `samply-markers`: `SamplyMarkers`,
//!   slices and slow polls in samply's profiles (Linux only).
//! * `metrics`: the module `metrics`, which passes all counters on to the facade `metrics`, and so to Prometheus and others.
//! * `recorder`: the module `recorder`, a flight recorder in a mapped file that outlives the process. `top`: the program `clockworker-top`,
//!   which shows such a file.

#![deny(unsafe_code)]

mod activity;
#[allow(unsafe_code, reason = "a reference that goes through an atomic pointer")]
mod atomic_location;
mod beacon;
mod cpu_times;
mod dump;
mod event;
mod frames;
mod heard;
mod histogram;
mod holder;
mod hooks;
mod hub;
mod latency;
#[cfg(feature = "metrics")]
pub mod metrics;
mod observation;
mod observe;
mod observed;
mod quietly;
#[cfg(feature = "recorder")]
pub mod recorder;
mod ring;
mod ring_reading;
#[cfg(feature = "stalls")]
pub mod stalls;
mod sync;
#[cfg(feature = "tracing")]
mod task_spans;
mod timeline;

// Tests of what several threads do, in all orders.
#[cfg(all(test, clockworker_loom, feature = "stalls"))]
mod models;

pub use activity::{Activity, ActivityKind};
pub use dump::{DumpedTask, TaskDump};
pub use event::{Event, EventKind};
pub use frames::QueueFrames;
pub use histogram::{Bucket, Histogram};
pub use holder::Holder;
pub use hooks::{TaskHooks, TaskMeta};
pub use latency::{GroupLatency, Latency, LongPoll, LongTurn, TurnLatency};
pub use observation::{Observation, ObservationError};
pub use observe::{Observe, Observer};
pub use observed::{Observed, ObservedGroup, ObservedQueue, Wakes};
#[cfg(all(target_os = "linux", feature = "samply-markers"))]
pub use timeline::SamplyMarkers;
#[cfg(feature = "dial9")]
pub use timeline::write_dial9;
pub use timeline::{Timeline, TimelineQueue};
#[cfg(feature = "timeline")]
pub use timeline::{Workload, summary, write_html, write_perfetto};

pub use clockworker::probe::{PollKind, PollOutcome, SliceEndReason, TaskEnd, TaskRef, TaskState, WokenBy};

/// Some 580 years at most.
fn nanos(time: std::time::Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
