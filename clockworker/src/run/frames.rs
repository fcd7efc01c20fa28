//! A stack frame for each queue, so that any profiler that shows stacks shows which queue it was.
//!
//! The slices of a queue go through a function of their own, which is named after the queue's index.

use std::hint::black_box;

use super::Core;
use super::queue::RunQueue;
use super::timing::SliceEnd;
use crate::observe::QueueFrames;

macro_rules! frames {
    ($($name:ident = $index:literal),* $(,)?) => {
        $(
            #[inline(never)]
            fn $name(slice: &mut dyn FnMut()) {
                slice();
                // What comes after the call keeps the frame, and another number each the functions apart.
                black_box($index as usize);
            }
        )*

        /// By the index of the queue; the last one is that of all beyond.
        const FRAMES: &[Frame] = &[$((stringify!($name), $name)),*];
    };
}

frames! {
    queue_0 = 0, queue_1 = 1, queue_2 = 2, queue_3 = 3, queue_4 = 4, queue_5 = 5,
    queue_6 = 6, queue_7 = 7, queue_8 = 8, queue_9 = 9, queue_10 = 10, queue_11 = 11,
    queue_12 = 12, queue_13 = 13, queue_14 = 14, queue_15 = 15, queue_16 = 16, queue_17 = 17,
    queue_18 = 18, queue_19 = 19, queue_20 = 20, queue_21 = 21, queue_22 = 22, queue_23 = 23,
    queue_24 = 24, queue_25 = 25, queue_26 = 26, queue_27 = 27, queue_28 = 28, queue_29 = 29,
    queue_30 = 30, queue_31_and_more = 31,
}

/// The name of a frame, and what runs a slice in it.
type Frame = (&'static str, fn(&mut dyn FnMut()));

fn frame_of(queue: &RunQueue) -> Frame {
    FRAMES[(queue.key.index as usize).min(FRAMES.len() - 1)]
}

impl RunQueue {
    /// [`run_slice`](RunQueue::run_slice), in the queue's frame.
    pub(super) fn run_framed_slice(&self, core: &Core) -> SliceEnd {
        let mut end = SliceEnd::Drained;
        frame_of(self).1(&mut || end = self.run_slice(core));
        end
    }
}

impl Core {
    /// The frames of the queues there are.
    pub(crate) fn queue_frames(&self) -> QueueFrames {
        let queues = self.all_queues();
        QueueFrames::new(queues.iter().map(|queue| (frame_of(queue).0, queue.name())))
    }
}
