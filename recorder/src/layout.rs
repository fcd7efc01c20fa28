//! Where what stands in the file. Words of 64 bits, in the order of bytes of the machine that wrote it.
//!
//! ```text
//! header | a name per seat | records of seat 0: seconds, ten seconds, minutes | records of seat 1 …
//! ```
//!
//! A queue has a seat. The seat 0 is the whole executor's. Names and records end with a checksum, so that a reader sees which are
//! being written, or were when the writer was killed.

use crate::sample;

/// "CWRECORD", as the machine has it that wrote the file.
pub(crate) const MAGIC: u64 = u64::from_le_bytes(*b"CWRECORD");
pub(crate) const VERSION: u64 = 1;

/// How many queues a recorder records at the same time, unless it is [told otherwise](crate::Recorder::with_queues).
pub const MAX_QUEUES: usize = 32;

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
    pub(crate) const WORDS: usize = 16;
}

/// A seat's name: whose it is, its bytes, its checksum.
pub(crate) const NAME_WORDS: usize = 10;
/// Bytes of a name that are kept.
pub(crate) const NAME_BYTES: usize = 8 * (NAME_WORDS - 2);

/// A record: whose it is, its period, the sample, its checksum.
pub(crate) const RECORD_WORDS: usize = sample::WORDS + 3;

const PERIODS: usize = TIERS[0].periods + TIERS[1].periods + TIERS[2].periods;
const SEAT_WORDS: usize = PERIODS * RECORD_WORDS;

/// The words of a file with so many seats. None if no machine has them.
pub(crate) fn words(seats: usize) -> Option<usize> {
    seats.checked_mul(NAME_WORDS + SEAT_WORDS)?.checked_add(header::WORDS)
}

pub(crate) fn name_at(seat: usize) -> usize {
    header::WORDS + seat * NAME_WORDS
}

/// Where the record of that period is.
pub(crate) fn record_at(seats: usize, seat: usize, tier: usize, period: u64) -> usize {
    let before: usize = TIERS[..tier].iter().map(|tier| tier.periods).sum();
    let place = before + (period % TIERS[tier].periods as u64) as usize;
    name_at(seats) + seat * SEAT_WORDS + place * RECORD_WORDS
}

/// Of words that stand together. Zeros, which is what a new file has, are not their own checksum.
pub(crate) fn checksum(words: &[u64]) -> u64 {
    // FNV-1a's constants, by words.
    words.iter().fold(0xcbf2_9ce4_8422_2325, |sum, word| {
        (sum ^ word).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(29)
    })
}
