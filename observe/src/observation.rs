//! [`Observation`]: what an executor is to observe.

use std::error::Error;
use std::fmt;
use std::time::Duration;

/// Bytes of a timeline at most: 4 GiB.
const MOST_BYTES: usize = 1 << 32;
/// Bytes of a timeline at least.
const LEAST_BYTES: usize = 1 << 10;

/// What an executor is to observe. Nothing, unless told otherwise.
///
/// For [`Observe::observe`](crate::Observe::observe).
///
/// # Example
///
/// ```
/// use clockworker::Executor;
/// use clockworker_observe::{Observation, Observe};
///
/// let ex = Executor::new();
/// ex.observe(Observation::new().latency().timeline(1 << 20)).unwrap();
/// ex.block_on(async { clockworker::spawn_local(async {}).await }).unwrap();
/// let observed = ex.observed();
/// let latency = observed.queues[0].latency.as_ref().unwrap();
/// assert_eq!(latency.wait.count(), 1);
/// assert!(ex.timeline().events.len() > 3);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use = "it is for `Observe::observe`"]
pub struct Observation {
    pub(crate) activity: bool,
    pub(crate) latency: bool,
    pub(crate) latency_of_groups: bool,
    pub(crate) frames_of_groups: bool,
    pub(crate) every_poll: bool,
    pub(crate) spans: bool,
    pub(crate) timeline_bytes: Option<usize>,
    pub(crate) stop_after: Option<Duration>,
    /// Its number.
    pub(crate) stop_queue: Option<u32>,
}

impl Observation {
    /// Observes nothing.
    pub const fn new() -> Self {
        Self {
            activity: false,
            latency: false,
            latency_of_groups: false,
            frames_of_groups: false,
            every_poll: false,
            spans: false,
            timeline_bytes: None,
            stop_after: None,
            stop_queue: None,
        }
    }

    /// Shows other threads what the executor does: [`Observer::activity`](super::Observer::activity).
    ///
    /// Each poll reads the clock then, and writes seven words; names are copied when they change. Polls are shown from the next one on.
    pub const fn activity(mut self) -> Self {
        self.activity = true;
        self
    }

    /// Counts how long tasks wait and run, and how long slices and turns are: [`Latency`](super::Latency).
    ///
    /// Where polls are short, one in 256 is timed, drawn by lot, and counted 256 times. From some 2 µs a poll on each is timed.
    pub const fn latency(mut self) -> Self {
        self.latency = true;
        self
    }

    /// The same for each group too: [`GroupLatency`](super::GroupLatency), some kilobytes for each that was polled. A group that closes is
    /// forgotten.
    pub const fn latency_of_groups(mut self) -> Self {
        self.latency = true;
        self.latency_of_groups = true;
        self
    }

    /// Has the polls of each group go through a stack frame of their own, so that profilers tell groups apart:
    /// [`QueueFrames::group_of`](super::QueueFrames::group_of) says which it is. That takes two calls of functions a poll.
    ///
    /// The first 31 groups that are open in a queue at a time have one each; the others share one. A group that is opened when another
    /// has closed may have that one's.
    pub const fn frames_of_groups(mut self) -> Self {
        self.frames_of_groups = true;
        self
    }

    /// Keeps what happened last, in so many bytes: the [`Timeline`](super::Timeline).
    ///
    /// A poll takes 8 to 16 bytes, a wake 16 to 24, a slice 32. Rounded up to a power of two.
    pub const fn timeline(mut self, bytes: usize) -> Self {
        self.timeline_bytes = Some(bytes);
        self
    }

    /// Stops the timeline once a task has waited for longer, so that it keeps what led to that. Needs
    /// [`latency`](Observation::latency), and looks at the waits that are timed.
    ///
    /// A task of any queue stops it, also of one that waits for long by intention, as it has a small share: say
    /// [which queue](Observation::stop_for_queue) is meant.
    pub const fn stop_after_wait(mut self, longer_than: Duration) -> Self {
        self.stop_after = Some(longer_than);
        self
    }

    /// Has only tasks of this queue [stop the timeline](Observation::stop_after_wait): the one of this
    /// [number](clockworker::QueueStats::number).
    ///
    /// # Example
    ///
    /// ```
    /// use clockworker::Executor;
    /// use clockworker_observe::{Observation, Observe};
    /// use std::time::Duration;
    ///
    /// let ex = Executor::new();
    /// let requests = ex.new_queue("requests").share(9).create().unwrap();
    /// let stop = Observation::new().latency().timeline(1 << 20).stop_after_wait(Duration::from_millis(50));
    /// ex.observe(stop.stop_for_queue(requests.stats().number)).unwrap();
    /// ```
    pub const fn stop_for_queue(mut self, number: u32) -> Self {
        self.stop_queue = Some(number);
        self
    }

    /// Reads the clock after each poll, and at each wake: nothing is drawn by lot, and no time is shared out among several polls.
    /// That takes as long as some short polls do.
    pub const fn every_poll(mut self) -> Self {
        self.every_poll = true;
        self
    }

    /// Has each task that is spawned from then on be a span of `tracing`, named and targeted as tokio's are: tokio-console shows the
    /// tasks with their queues. Every poll, and every use of a waker on any thread, is an event then, and pays for that.
    #[cfg(feature = "tracing")]
    pub const fn spans(mut self) -> Self {
        self.spans = true;
        self
    }

    /// Whether nothing in it contradicts the rest.
    pub(crate) fn validate(&self) -> Result<(), ObservationError> {
        let (stops, has_queue) = (self.stop_after.is_some(), self.stop_queue.is_some());
        let kind = match self.timeline_bytes {
            Some(bytes) if !(LEAST_BYTES..=MOST_BYTES).contains(&bytes) => Kind::TimelineBytes(bytes),
            None if stops || has_queue => {
                Kind::Stop("`stop_after_wait` stops a timeline, and there is none: add `timeline`")
            }
            _ if has_queue && !stops => {
                Kind::Stop("`stop_for_queue` does not say after which wait: add `stop_after_wait`")
            }
            _ if stops && !self.latency => {
                Kind::Stop("`stop_after_wait` looks at waits, and none is timed: add `latency`")
            }
            _ => return Ok(()),
        };
        Err(ObservationError { kind })
    }

    /// Whether it matters when tasks become ready.
    pub(crate) fn has_stamps(&self) -> bool {
        self.latency || self.timeline_bytes.is_some()
    }

    /// Whether the timeline stops after such a wait in the queue of that number.
    pub(crate) fn stops_after(&self, wait: Duration, queue: impl FnOnce() -> Option<u32>) -> bool {
        self.stop_after.is_some_and(|longest| wait > longest)
            && self.stop_queue.is_none_or(|number| Some(number) == queue())
    }
}

/// Why an executor does not observe that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObservationError {
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    TimelineBytes(usize),
    /// What is missing.
    Stop(&'static str),
}

impl ObservationError {
    /// Whether the timeline has too few or too many bytes.
    pub fn is_timeline_bytes(&self) -> bool {
        matches!(self.kind, Kind::TimelineBytes(_))
    }

    /// Whether a timeline is to stop after a wait, but there is none, or waits are not timed, or it is not said after which.
    pub fn is_stop_after_wait(&self) -> bool {
        matches!(self.kind, Kind::Stop(_))
    }
}

impl fmt::Display for ObservationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            Kind::TimelineBytes(bytes) => {
                write!(f, "a timeline of {bytes} bytes: it has {LEAST_BYTES} to {MOST_BYTES}")
            }
            Kind::Stop(missing) => f.write_str(missing),
        }
    }
}

impl Error for ObservationError {}
