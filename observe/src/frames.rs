//! [`QueueFrames`]: a stack frame for each queue, and where asked for each group, so that any profiler that shows stacks shows whose time it was.
//!
//! The slices of a queue go through a function of their own, which is named after the queue's index; so do the polls of a group.

use std::collections::BTreeMap;
use std::hint::black_box;

use clockworker::Executor;
use clockworker::probe::{GroupView, Poll, Slice, SliceEnded};

/// The module of the frames, as it is in their symbols.
const MODULE: &str = "clockworker_observe::frames::";

/// Functions that call `$call`, and a table of them: by index; the last one is that of all beyond.
macro_rules! frames {
    ($table:ident: $type:ty = fn $arguments:tt -> $output:ty { $call:expr } $($name:ident = $number:literal),* $(,)?) => {
        $(
            #[inline(never)]
            fn $name $arguments -> $output {
                #[allow(clippy::let_unit_value, reason = "of one of them")]
                let output = $call;
                // What comes after the call keeps the frame, and another number each the functions apart.
                black_box($number as usize);
                output
            }
        )*

        const $table: &[Frame<$type>] = &[$((stringify!($name), $name)),*];
    };
}

/// The name of a frame, and its function.
type Frame<F> = (&'static str, F);

frames! {
    QUEUES: fn(Slice<'_>) -> SliceEnded = fn(slice: Slice<'_>) -> SliceEnded { slice.run() }
    queue_0 = 0, queue_1 = 1, queue_2 = 2, queue_3 = 3, queue_4 = 4, queue_5 = 5,
    queue_6 = 6, queue_7 = 7, queue_8 = 8, queue_9 = 9, queue_10 = 10, queue_11 = 11,
    queue_12 = 12, queue_13 = 13, queue_14 = 14, queue_15 = 15, queue_16 = 16, queue_17 = 17,
    queue_18 = 18, queue_19 = 19, queue_20 = 20, queue_21 = 21, queue_22 = 22, queue_23 = 23,
    queue_24 = 24, queue_25 = 25, queue_26 = 26, queue_27 = 27, queue_28 = 28, queue_29 = 29,
    queue_30 = 30,
    queue_31_and_more = 31,
}

frames! {
    GROUPS: fn(Poll<'_>) -> () = fn(poll: Poll<'_>) -> () { poll.run() }
    group_0 = 100, group_1 = 101, group_2 = 102, group_3 = 103, group_4 = 104, group_5 = 105,
    group_6 = 106, group_7 = 107, group_8 = 108, group_9 = 109, group_10 = 110, group_11 = 111,
    group_12 = 112, group_13 = 113, group_14 = 114, group_15 = 115, group_16 = 116, group_17 = 117,
    group_18 = 118, group_19 = 119, group_20 = 120, group_21 = 121, group_22 = 122, group_23 = 123,
    group_24 = 124, group_25 = 125, group_26 = 126, group_27 = 127, group_28 = 128, group_29 = 129,
    group_30 = 130,
    group_31_and_more = 131,
}

/// The frame of that index.
fn frame_of<F: Copy>(frames: &[Frame<F>], index: u32) -> Frame<F> {
    frames[(index as usize).min(frames.len() - 1)]
}

/// Runs a slice in the frame of its queue.
pub(crate) fn run_framed(slice: Slice<'_>) -> SliceEnded {
    frame_of(QUEUES, slice.queue().index).1(slice)
}

/// Does a poll in the frame of its task's group, if that has one.
#[inline(never)]
pub(crate) fn poll_framed(poll: Poll<'_>) {
    match poll.task().and_then(|task| task.group()) {
        Some(group) => frame_of(GROUPS, group.index).1(poll),
        None => poll.run(),
    }
}

/// Which stack frame is which queue's, and which group's. From [`Observe::queue_frames`](crate::Observe::queue_frames).
///
/// Once an executor is [observed](crate::Observe::observe), the slices of each of its queues go through a function of their own:
/// `clockworker_observe::frames::queue_3`. So any profiler that records stacks (samply, perf, pprof) tells queues apart; this gives them
/// their names. From the 32nd queue on they share one frame, and so do queues that had the same index one after the other.
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueFrames {
    /// Of the queues in each frame, and of the groups in each frame inside it.
    names: BTreeMap<(&'static str, Option<&'static str>), String>,
}

impl QueueFrames {
    /// The frames of the queues there are, and of their groups.
    pub(crate) fn of(executor: &Executor) -> Self {
        let mut names: BTreeMap<_, Vec<String>> = BTreeMap::new();
        for queue in executor.look_at_queues() {
            let frame = frame_of(QUEUES, queue.index).0;
            names.entry((frame, None)).or_default().push(queue.name.to_string());
            for GroupView { index, key, name, .. } in queue.groups {
                let name = name.map_or_else(|| key.to_string(), |name| name.to_string());
                names.entry((frame, Some(frame_of(GROUPS, index).0))).or_default().push(name);
            }
        }
        Self { names: names.into_iter().map(|(frames, names)| (frames, names.join(", "))).collect() }
    }

    /// The name of the queue whose frame has that (demangled) symbol. None if it is no queue's frame, or that of a queue that is
    /// gone. Several names, with commas between them, for queues that share a frame.
    pub fn queue_of(&self, symbol: &str) -> Option<&str> {
        self.names.get(&(frame_in(symbol, QUEUES)?, None)).map(String::as_str)
    }

    /// The name of the group whose frame has that symbol, inside the frame of its queue; its key, if it has no name. None if either is no
    /// such frame, or the group was not open when the frames were asked for. Several, with commas between them, for groups that share a
    /// frame: from the 32nd on that were open in their queue at a time.
    pub fn group_of(&self, queue_symbol: &str, symbol: &str) -> Option<&str> {
        self.names
            .get(&(frame_in(queue_symbol, QUEUES)?, Some(frame_in(symbol, GROUPS)?)))
            .map(String::as_str)
    }

    /// The frames, each with the names of its queues.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let of_queues = self.names.iter().filter(|((_, group), _)| group.is_none());
        of_queues.map(|((queue, _), names)| (*queue, names.as_str()))
    }
}

/// The one of these frames that has that symbol.
fn frame_in<F>(symbol: &str, frames: &[Frame<F>]) -> Option<&'static str> {
    // A hash may follow.
    let name = symbol.split_once(MODULE)?.1.split("::").next()?;
    frames.iter().map(|frame| frame.0).find(|known| *known == name)
}
