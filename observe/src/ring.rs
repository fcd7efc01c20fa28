//! [`Ring`]: what has happened on the owner thread, as words in a ring, of which the oldest are overwritten.
//!
//! An event is one word of eight bytes, or a few. A time is a word of its own, and written only when it is another than the last,
//! so a poll that was not timed takes one word and a handful of instructions.
//!
//! Only the owner thread writes. All orderings are Relaxed, which is as cheap as a plain cell: nothing is published with a word, and
//! whoever reads on another thread takes what may be out of date.

use std::collections::HashMap;
use std::panic::Location;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use clockworker::probe::{PollOutcome, SliceEndReason, TaskRef};

use crate::quietly::lock;

/// One word: its kind in the upper four bits, and what it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Word(u64);

/// What a word says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Said {
    /// The time from here on. Nanoseconds since the executor was made.
    Time(u64),
    /// A poll of the running queue is over. If `timed`, the time was read after it.
    Polled {
        slot: u32,
        generation: u32,
        outcome: PollOutcome,
        timed: bool,
    },
    /// A task of that queue, which the next word says, is ready.
    Ready {
        queue: u32,
        remote: bool,
    },
    /// A task was spawned into that queue: the next words say which, and where.
    Spawned {
        queue: u32,
    },
    /// A ready task of that queue, which the next word says, has moved to another one.
    Left {
        queue: u32,
    },
    /// The task of the word before.
    Task {
        slot: u32,
        generation: u32,
    },
    /// Where the task of the words before was spawned: an index into [`Ring::locations`]; and its group in its queue, if it has one.
    Location {
        index: u32,
        group: Option<u32>,
    },
    SliceBegan {
        queue: u32,
        ready: u32,
    },
    SliceEnded {
        queue: u32,
        reason: SliceEndReason,
    },
    TurnBegan,
    TurnEnded {
        idle: bool,
    },
    /// Nothing that this version knows.
    Unknown,
}

const KIND_BITS: u32 = 60;
const TIME: u64 = 1;
const POLLED: u64 = 2;
const READY: u64 = 3;
const SPAWNED: u64 = 4;
const TASK: u64 = 5;
const LOCATION: u64 = 6;
const SLICE_BEGAN: u64 = 7;
const SLICE_ENDED: u64 = 8;
const TURN_BEGAN: u64 = 9;
const TURN_ENDED: u64 = 10;
const LEFT: u64 = 11;

/// By the numbers that words have for them. The last stands for those that this version does not know, too.
const OUTCOMES: [PollOutcome; 3] = [PollOutcome::Pending, PollOutcome::Yielded, PollOutcome::Finished];
const REASONS: [SliceEndReason; 5] = [
    SliceEndReason::Spent,
    SliceEndReason::Preempted,
    SliceEndReason::Drained,
    SliceEndReason::HostDue,
    SliceEndReason::Other,
];

fn number_of<T: PartialEq>(value: T, known: &[T]) -> u32 {
    known.iter().position(|known| *known == value).unwrap_or(known.len() - 1) as u32
}

fn of_number<T: Copy>(number: u32, known: &[T]) -> T {
    known[(number as usize).min(known.len() - 1)]
}

/// Generations are kept modulo 2^24.
const GENERATION_BITS: u32 = 24;
const OUTCOME_BIT: u32 = 32 + GENERATION_BITS;
/// Above what is said of a queue.
const QUEUE_BIT: u32 = 32;
const QUEUE_MASK: u64 = (1 << (KIND_BITS - QUEUE_BIT)) - 1;

impl Word {
    fn new(kind: u64, held: u64) -> Self {
        Self(kind << KIND_BITS | held & ((1 << KIND_BITS) - 1))
    }

    #[inline]
    fn of_task(kind: u64, slot: u32, generation: u32, more: u32) -> Self {
        let generation = u64::from(generation) & ((1 << GENERATION_BITS) - 1);
        Self(kind << KIND_BITS | u64::from(more) << OUTCOME_BIT | generation << 32 | u64::from(slot))
    }

    fn of_queue(kind: u64, queue: u32, more: u32) -> Self {
        Self(kind << KIND_BITS | (u64::from(queue) & QUEUE_MASK) << QUEUE_BIT | u64::from(more))
    }

    /// Reads the word.
    pub(crate) fn said(self) -> Said {
        let held = self.0 & ((1 << KIND_BITS) - 1);
        let low = held as u32;
        let queue = (held >> QUEUE_BIT) as u32;
        let generation = queue & ((1 << GENERATION_BITS) - 1);
        let more = (held >> OUTCOME_BIT) as u32;
        let outcome = of_number(more & 3, &OUTCOMES);
        match self.0 >> KIND_BITS {
            TIME => Said::Time(held),
            POLLED => Said::Polled { slot: low, generation, outcome, timed: more & 4 != 0 },
            READY => Said::Ready { queue, remote: low != 0 },
            SPAWNED => Said::Spawned { queue },
            LEFT => Said::Left { queue },
            TASK => Said::Task { slot: low, generation },
            LOCATION => Said::Location { index: low, group: queue.checked_sub(1) },
            SLICE_BEGAN => Said::SliceBegan { queue, ready: low },
            SLICE_ENDED => Said::SliceEnded { queue, reason: of_number(low, &REASONS) },
            TURN_BEGAN => Said::TurnBegan,
            TURN_ENDED => Said::TurnEnded { idle: low != 0 },
            _ => Said::Unknown,
        }
    }
}

/// See the [module docs](self).
#[derive(Debug)]
pub(crate) struct Ring {
    words: Box<[AtomicU64]>,
    /// How many words were written.
    written: AtomicU64,
    /// The time that was written last.
    time: AtomicU64,
    /// Whether nothing is written any more.
    stopped: AtomicBool,
    /// Where tasks were spawned, and by which index words say so.
    locations: Mutex<HashMap<&'static Location<'static>, u32>>,
}

impl Ring {
    /// A ring of so many bytes, or the next power of two.
    pub(crate) fn new(bytes: usize) -> Self {
        let words = (0..bytes.next_power_of_two() / 8).map(|_| AtomicU64::new(0)).collect();
        Self {
            words,
            written: AtomicU64::new(0),
            time: AtomicU64::new(u64::MAX),
            stopped: AtomicBool::new(false),
            locations: Mutex::default(),
        }
    }

    #[inline]
    fn push(&self, word: Word) {
        let written = self.written.load(Ordering::Relaxed);
        // The length is a power of two.
        let index = written as usize & (self.words.len() - 1);
        self.words[index].store(word.0, Ordering::Relaxed);
        self.written.store(written + 1, Ordering::Relaxed);
    }

    /// Writes nothing from now on.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    #[inline]
    pub(crate) fn polled(&self, now: u64, task: TaskRef, outcome: PollOutcome, timed: bool) {
        let more = number_of(outcome, &OUTCOMES) | u32::from(timed) << 2;
        self.write(now, || self.push(Word::of_task(POLLED, task.slot, task.generation, more)));
    }

    pub(crate) fn ready(&self, at: u64, task: TaskRef, remote: bool) {
        self.write(at, || self.push_of(READY, task, remote.into()));
    }

    pub(crate) fn left(&self, now: u64, task: TaskRef) {
        self.write(now, || self.push_of(LEFT, task, 0));
    }

    fn push_of(&self, what: u64, task: TaskRef, more: u32) {
        self.push(Word::of_queue(what, task.queue, more));
        self.push(Word::of_task(TASK, task.slot, task.generation, 0));
    }

    pub(crate) fn spawned(
        &self,
        now: u64,
        task: TaskRef,
        (location, group): (&'static Location<'static>, Option<u32>),
    ) {
        self.write(now, || {
            let index = {
                let mut locations = lock(&self.locations);
                let next = locations.len() as u32;
                *locations.entry(location).or_insert(next)
            };
            self.push_of(SPAWNED, task, 0);
            self.push(Word::of_queue(LOCATION, group.map_or(0, |group| group + 1), index));
        });
    }

    pub(crate) fn slice_began(&self, now: u64, queue: u32, ready: usize) {
        let ready = u32::try_from(ready).unwrap_or(u32::MAX);
        self.write(now, || self.push(Word::of_queue(SLICE_BEGAN, queue, ready)));
    }

    pub(crate) fn slice_ended(&self, now: u64, queue: u32, reason: SliceEndReason) {
        self.write(now, || self.push(Word::of_queue(SLICE_ENDED, queue, number_of(reason, &REASONS))));
    }

    pub(crate) fn turn_began(&self, now: u64) {
        self.write(now, || self.push(Word::new(TURN_BEGAN, 0)));
    }

    pub(crate) fn turn_ended(&self, now: u64, idle: bool) {
        self.write(now, || self.push(Word::new(TURN_ENDED, idle.into())));
    }

    /// Writes what happened, with the time before it if that is another than the last.
    #[inline]
    fn write(&self, now: u64, push: impl FnOnce()) {
        if self.is_stopped() {
            return;
        }
        if self.time.load(Ordering::Relaxed) != now {
            self.time.store(now, Ordering::Relaxed);
            self.push(Word::new(TIME, now));
        }
        push();
    }

    /// The words that are still there, oldest first.
    pub(crate) fn words(&self) -> impl Iterator<Item = Word> + '_ {
        let written = self.written.load(Ordering::Relaxed);
        let kept = written.min(self.words.len() as u64);
        let word = |at: u64| &self.words[at as usize & (self.words.len() - 1)];
        (written - kept..written).map(move |at| Word(word(at).load(Ordering::Relaxed)))
    }

    /// Whether words were overwritten.
    pub(crate) fn is_cut(&self) -> bool {
        self.written.load(Ordering::Relaxed) > self.words.len() as u64
    }

    /// Where tasks were spawned, by the index that words give.
    pub(crate) fn locations(&self) -> Vec<&'static Location<'static>> {
        let mut indexed: Vec<_> = lock(&self.locations).iter().map(|(&at, &index)| (index, at)).collect();
        indexed.sort_unstable();
        indexed.into_iter().map(|(_, location)| location).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_says_what_was_written() {
        let ring = Ring::new(8 * 64);
        let here = Location::caller();
        let task = |queue, slot, generation| TaskRef { queue, slot, generation };
        ring.spawned(5, task(7, u32::MAX - 2, 0xFFFF_FFFF), (here, Some(6)));
        ring.polled(9, task(3, 3, 0x1FF_FFFF), PollOutcome::Finished, true);
        ring.polled(9, task(3, 3, 4), PollOutcome::Yielded, false);
        ring.ready(9, task(QUEUE_MASK as u32, 1, 2), true);
        ring.slice_began(10, 3, usize::MAX);
        ring.slice_ended(10, 3, SliceEndReason::Other);
        ring.slice_ended(10, 3, SliceEndReason::Drained);
        ring.turn_ended(11, true);
        let said: Vec<Said> = ring.words().map(Word::said).collect();
        let generation = 0xFF_FFFF;
        let expected = [
            Said::Time(5),
            Said::Spawned { queue: 7 },
            Said::Task { slot: u32::MAX - 2, generation },
            Said::Location { index: 0, group: Some(6) },
            Said::Time(9),
            Said::Polled { slot: 3, generation, outcome: PollOutcome::Finished, timed: true },
            Said::Polled { slot: 3, generation: 4, outcome: PollOutcome::Yielded, timed: false },
            Said::Ready { queue: QUEUE_MASK as u32, remote: true },
            Said::Task { slot: 1, generation: 2 },
            Said::Time(10),
            Said::SliceBegan { queue: 3, ready: u32::MAX },
            Said::SliceEnded { queue: 3, reason: SliceEndReason::Other },
            Said::SliceEnded { queue: 3, reason: SliceEndReason::Drained },
            Said::Time(11),
            Said::TurnEnded { idle: true },
        ];
        assert_eq!(said, expected);
        assert_eq!(ring.locations(), [here]);
    }

    #[test]
    fn the_oldest_words_are_overwritten_and_a_stopped_ring_keeps_what_it_has() {
        let ring = Ring::new(8 * 3);
        for now in 0..9 {
            ring.turn_began(now);
        }
        let said: Vec<Said> = ring.words().map(Word::said).collect();
        assert_eq!(said, [Said::Time(7), Said::TurnBegan, Said::Time(8), Said::TurnBegan]);
        assert!(ring.is_cut());
        ring.stop();
        ring.turn_began(20);
        assert_eq!(ring.words().count(), 4);
        assert_eq!(ring.words().last().map(Word::said), Some(Said::TurnBegan));
    }
}
