//! Where what stands in the file. Words of 64 bits, in the order of bytes of the machine that wrote it.
//!
//! ```text
//! header
//! queues: a name per seat | records of seat 0: seconds, ten seconds, minutes | records of seat 1 …
//! series: a name per seat | records of seat 0 … | what is live, per seat
//! ```
//!
//! A queue has a seat, and so has a series of the program's own. The queues' seat 0 is the whole executor's. Names and records end with
//! a checksum, so that a reader sees which are being written, or were when the writer was killed. What is live has none: each word of
//! it stands for itself.

use crate::entry::Entry;
use crate::sample::Sample;
use crate::values::Filed;

/// "CWRECORD", as the machine has it that wrote the file.
pub(crate) const MAGIC: u64 = u64::from_le_bytes(*b"CWRECORD");
pub(crate) const VERSION: u64 = 2;

/// How many queues a recorder records at the same time, unless it is [told otherwise](crate::Recorder::with_room).
pub const MAX_QUEUES: usize = 32;

/// How many [series](crate::Series) of its own a program has room for, unless the recorder is [told otherwise](crate::Recorder::with_room).
pub const MAX_SERIES: usize = 16;

/// Queues, and series, of a recorder at most: more than a gigabyte.
pub(crate) const MOST: usize = 4_096;

/// A series' periods, and how many of them are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tier {
    /// Seconds of a period.
    pub seconds: u64,
    /// Periods that are kept.
    pub periods: usize,
}

/// The tiers of each series: 10 minutes, an hour, a day.
pub const TIERS: [Tier; 3] = [
    Tier { seconds: 1, periods: 600 },
    Tier { seconds: 10, periods: 360 },
    Tier { seconds: 60, periods: 1_440 },
];

/// The header's words.
pub(crate) mod header {
    pub(crate) const MAGIC: usize = 0;
    pub(crate) const VERSION: usize = 1;
    pub(crate) const SEATS: usize = 2;
    pub(crate) const PROCESS: usize = 3;
    /// Nanoseconds since 1970, of the first and the last sample.
    pub(crate) const STARTED: usize = 4;
    pub(crate) const UPDATED: usize = 5;
    /// Samples of queues that found no seat.
    pub(crate) const LEFT_OUT: usize = 6;
    /// Seats of series, of which the last may be free.
    pub(crate) const SERIES: usize = 7;
    pub(crate) const WORDS: usize = 16;
}

/// A seat's name: whose it is, its bytes, its checksum.
pub(crate) const NAME_WORDS: usize = 10;
/// Bytes of a name that are kept.
pub(crate) const NAME_BYTES: usize = 8 * (NAME_WORDS - 2);

/// What is live of a series: the count and the sum of its values, the greatest, and the inverse of the least. In a line of a cache.
pub(crate) const LIVE_WORDS: usize = 8;

const PERIODS: usize = TIERS[0].periods + TIERS[1].periods + TIERS[2].periods;

/// Where everything is, in words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    pub(crate) queues: Seats,
    pub(crate) series: Seats,
    live: usize,
    /// The length of the file.
    pub(crate) words: usize,
}

impl Layout {
    /// For so many seats of queues and of series. None if no machine has them.
    pub(crate) fn new(queues: usize, series: usize) -> Option<Self> {
        let queues = Seats { at: header::WORDS, count: queues, record_words: record_words::<Sample>() };
        let series = Seats { at: queues.end()?, count: series, record_words: record_words::<Filed>() };
        let live = series.end()?.checked_next_multiple_of(LIVE_WORDS)?;
        let words = series.count.checked_mul(LIVE_WORDS)?.checked_add(live)?;
        words.checked_mul(8)?;
        Some(Self { queues, series, live, words })
    }

    pub(crate) fn live_at(&self, series: usize) -> usize {
        self.live + series * LIVE_WORDS
    }
}

/// Names and records, of queues or of series.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seats {
    at: usize,
    pub(crate) count: usize,
    pub(crate) record_words: usize,
}

/// A record: whose it is, its period, what happened in it, its checksum.
const fn record_words<E: Entry>() -> usize {
    E::WORDS + 3
}

impl Seats {
    fn end(&self) -> Option<usize> {
        self.count.checked_mul(NAME_WORDS + PERIODS * self.record_words)?.checked_add(self.at)
    }

    pub(crate) fn name_at(&self, seat: usize) -> usize {
        self.at + seat * NAME_WORDS
    }

    /// Where the record of that period is.
    pub(crate) fn record_at(&self, seat: usize, tier: usize, period: u64) -> usize {
        let before: usize = TIERS[..tier].iter().map(|tier| tier.periods).sum();
        let place = before + (period % TIERS[tier].periods as u64) as usize;
        self.name_at(self.count) + (seat * PERIODS + place) * self.record_words
    }
}

/// Of words that stand together. Zeros, which is what a new file has, are not their own checksum.
pub(crate) fn checksum(words: &[u64]) -> u64 {
    check(CHECKSUM, words)
}

/// The checksum of no words.
pub(crate) const CHECKSUM: u64 = 0xcbf2_9ce4_8422_2325;

/// The checksum of those before, and of more words. FNV-1a's constants, by words.
pub(crate) fn check(sum: u64, words: &[u64]) -> u64 {
    words.iter().fold(sum, |sum, word| (sum ^ word).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(29))
}
