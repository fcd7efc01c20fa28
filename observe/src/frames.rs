//! A stack frame for each queue, and where asked for each group, so that any profiler that shows stacks shows whose time it was.
//!
//! The slices of a queue go through a function of their own, which is named after the queue's index; so do the polls of a group.

use std::hint::black_box;

use clockworker::Executor;
use clockworker::probe::{Poll, Slice, SliceEnded};

use crate::QueueFrames;

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

/// The name of a frame, and what it calls in it.
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

/// The frames of the queues there are, and of their groups.
pub(crate) fn queue_frames(executor: &Executor) -> QueueFrames {
    let mut frames = QueueFrames::default();
    for queue in executor.look_at_queues() {
        let frame = frame_of(QUEUES, queue.index).0;
        frames.add_queue(frame, &queue.name);
        for group in &queue.groups {
            let called = group.name.as_ref().map_or_else(|| group.key.to_string(), |name| name.to_string());
            frames.add_group(frame, frame_of(GROUPS, group.index).0, &called);
        }
    }
    frames
}
