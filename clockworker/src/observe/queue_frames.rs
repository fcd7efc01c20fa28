//! [`QueueFrames`]: which stack frame is which queue's.

use std::collections::BTreeMap;

/// The module of the frames, as it is in their symbols.
const MODULE: &str = "clockworker::run::frames::";

/// Which stack frame is which queue's. From [`Executor::queue_frames`](crate::Executor::queue_frames).
///
/// With the feature `observe` the slices of each queue go through a function of their own: `clockworker::run::frames::queue_3`. So
/// any profiler that records stacks (samply, perf, pprof) tells queues apart; this gives them their names. From the 32nd queue on
/// they share one frame, and so do queues that had the same index one after the other.
///
/// # Example
///
/// ```
/// use clockworker::Executor;
///
/// let ex = Executor::new();
/// ex.new_queue("requests").create().unwrap();
/// let frames = ex.queue_frames();
/// assert_eq!(frames.queue_of("clockworker::run::frames::queue_1"), Some("requests"));
/// assert_eq!(frames.queue_of("clockworker::run::slice::run"), None);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueFrames {
    names: BTreeMap<&'static str, String>,
}

impl QueueFrames {
    /// The queues in the order of their indices, each with its frame.
    pub(crate) fn new(queues: impl Iterator<Item = (&'static str, String)>) -> Self {
        let mut names: BTreeMap<&'static str, String> = BTreeMap::new();
        for (frame, name) in queues {
            names.entry(frame).and_modify(|all| *all = format!("{all}, {name}")).or_insert(name);
        }
        Self { names }
    }

    /// The name of the queue whose frame has that (demangled) symbol. None if it is no queue's frame, or that of a queue that is
    /// gone. Several names, with commas between them, for queues that share a frame.
    pub fn queue_of(&self, symbol: &str) -> Option<&str> {
        let symbol = symbol.split_once(MODULE)?.1;
        // A hash may follow.
        let frame = symbol.split("::").next()?;
        self.names.get(frame).map(String::as_str)
    }

    /// The frames, and the queues whose they are.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.names.iter().map(|(frame, name)| (*frame, name.as_str()))
    }
}
