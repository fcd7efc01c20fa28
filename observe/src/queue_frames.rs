//! [`QueueFrames`]: which stack frame is which queue's, and which group's.

use std::collections::BTreeMap;

/// The module of the frames, as it is in their symbols.
const MODULE: &str = "clockworker_observe::frames::";

/// Which stack frame is which queue's, and which group's. From [`Observe::queue_frames`](crate::Observe::queue_frames).
///
/// Once an executor is [observed](crate::Observe::observe), the slices of each of its queues go through a function of their own:
/// `clockworker_observe::frames::queue_3`. So any profiler that records stacks (samply, perf, pprof) tells queues apart; this gives them
/// their names. From the 32nd queue on
/// they share one frame, and so do queues that had the same index one after the other.
///
/// Where [`frames_of_groups`](crate::Observation::frames_of_groups) is asked for, so do the polls of each group, inside the frame
/// of their queue: `clockworker_observe::frames::group_5`.
///
/// # Example
///
/// ```
/// use clockworker::Executor;
/// use clockworker_observe::Observe;
///
/// let ex = Executor::new();
/// let requests = ex.new_queue("requests").create().unwrap();
/// let tenant = requests.new_group(42).name("Acme").open().unwrap();
/// let frames = ex.queue_frames();
/// let in_queue = "clockworker_observe::frames::queue_1";
/// assert_eq!(frames.queue_of(in_queue), Some("requests"));
/// assert_eq!(frames.queue_of("clockworker::run::slice::run"), None);
/// assert_eq!(frames.group_of(in_queue, "clockworker_observe::frames::group_0"), Some("Acme"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueFrames {
    names: BTreeMap<&'static str, String>,
    /// Of the groups in each queue's frame.
    groups: BTreeMap<&'static str, BTreeMap<&'static str, String>>,
}

impl QueueFrames {
    pub(crate) fn add_queue(&mut self, frame: &'static str, name: &str) {
        add(self.names.entry(frame).or_default(), name);
    }

    /// A group in the frame of its queue.
    pub(crate) fn add_group(&mut self, queue: &'static str, frame: &'static str, name: &str) {
        add(self.groups.entry(queue).or_default().entry(frame).or_default(), name);
    }

    /// The name of the queue whose frame has that (demangled) symbol. None if it is no queue's frame, or that of a queue that is
    /// gone. Several names, with commas between them, for queues that share a frame.
    pub fn queue_of(&self, symbol: &str) -> Option<&str> {
        self.names.get(frame_in(symbol)?).map(String::as_str)
    }

    /// The name of the group whose frame has that symbol, inside the frame of its queue; its key, if it has no name. None if either is no
    /// such frame, or the group was not open when the frames were asked for. Several, with commas between them, for groups that share a
    /// frame: from the 32nd on that were open in their queue at a time.
    pub fn group_of(&self, queue_symbol: &str, symbol: &str) -> Option<&str> {
        let groups = self.groups.get(frame_in(queue_symbol)?)?;
        groups.get(frame_in(symbol)?).map(String::as_str)
    }

    /// The frames, each with the names of its queues.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.names.iter().map(|(frame, name)| (*frame, name.as_str()))
    }
}

fn add(names: &mut String, name: &str) {
    if !names.is_empty() {
        names.push_str(", ");
    }
    names.push_str(name);
}

/// The frame that has that symbol.
fn frame_in(symbol: &str) -> Option<&str> {
    // A hash may follow.
    symbol.split_once(MODULE)?.1.split("::").next()
}
