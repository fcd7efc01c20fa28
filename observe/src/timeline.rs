//! [`Timeline`]: what happened on the executor's thread, the last of it.

#[cfg(feature = "dial9")]
mod dial9;
#[cfg(feature = "timeline")]
mod perfetto;
#[cfg(all(target_os = "linux", feature = "samply-markers"))]
#[allow(unsafe_code, reason = "a file is mapped")]
mod samply_markers;
#[cfg(feature = "timeline")]
mod spans;
#[cfg(feature = "timeline")]
mod summary;
#[cfg(feature = "timeline")]
mod workload;

use std::time::Duration;

use super::Event;

#[cfg(feature = "dial9")]
pub use dial9::write_dial9;
#[cfg(feature = "timeline")]
pub use perfetto::{write_html, write_perfetto};
#[cfg(all(target_os = "linux", feature = "samply-markers"))]
pub use samply_markers::SamplyMarkers;
#[cfg(feature = "timeline")]
pub use summary::summary;
#[cfg(feature = "timeline")]
pub use workload::Workload;

/// What happened on the executor's thread last, oldest first.
///
/// From [`Observe::timeline`](crate::Observe::timeline).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Timeline {
    /// The queues there were when it was taken.
    pub queues: Vec<TimelineQueue>,
    /// What happened. The times never go back.
    pub events: Vec<Event>,
    /// When it was taken, since the executor was made: with that, events can be set beside other clocks.
    pub taken_at: Duration,
    /// Whether there was more before, for which there was no room.
    pub is_cut: bool,
    /// Whether it was [stopped](super::Observation::stop_after_wait) by a long wait.
    pub is_stopped: bool,
}

/// A queue of a [`Timeline`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TimelineQueue {
    /// What events call it. The index of a queue that is gone is given to another one.
    pub index: u32,
    /// Its name.
    pub name: String,
    /// Its share.
    pub share: u32,
    /// Its request.
    pub request: Duration,
}

impl TimelineQueue {
    /// A queue of that index, name, share and request: for a timeline that was read from a file, or made up for a
    /// test.
    pub fn new(index: u32, name: impl Into<String>, share: u32, request: Duration) -> Self {
        Self { index, name: name.into(), share, request }
    }
}

impl Timeline {
    /// A timeline of these queues and events: read from a file, or made up for a test.
    pub fn new(queues: Vec<TimelineQueue>, events: Vec<Event>) -> Self {
        Self { queues, events, ..Self::default() }
    }

    /// The name of the queue with that index, if it was there when the timeline was taken.
    pub fn queue_name(&self, index: u32) -> Option<&str> {
        self.queues.iter().find(|queue| queue.index == index).map(|queue| queue.name.as_str())
    }
}
