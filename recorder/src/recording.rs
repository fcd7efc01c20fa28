//! [`Recording`]: what a recorder has written, as plain data.

use std::fs;
use std::path::Path;

use serde::Serialize;

use crate::error::{ReadError, ReadKind};
use crate::layout::{self, NAME_WORDS, RECORD_WORDS, TIERS, header};
use crate::sample::{self, Sample};

/// What a [`Recorder`](crate::Recorder) has written so far.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Recording {
    /// The process that recorded it.
    pub process: u32,
    /// When something was recorded first, in nanoseconds since 1970; 0 if nothing was.
    pub started_ns: u64,
    /// When something was recorded last, likewise.
    pub updated_ns: u64,
    /// Samples of queues that are missing, as there were too many queues.
    pub left_out: u64,
    /// Names and periods that were being written when they were read, or when the process was killed: they are missing.
    pub torn: usize,
    /// The whole executor. Its busy time is all that its host did not have.
    pub executor: QueueRecording,
    /// The queues, in the order in which they were created. Those that are gone too, until another took their place.
    pub queues: Vec<QueueRecording>,
}

/// The series of a queue. Each from the oldest period to the newest; periods in which nothing was recorded are missing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct QueueRecording {
    /// Its name: the first 64 bytes.
    pub name: String,
    /// Its [number](clockworker::QueueStats::number).
    pub number: u32,
    /// The last 10 minutes, by the second.
    pub seconds: Vec<Period>,
    /// The last hour, by ten seconds.
    pub tens: Vec<Period>,
    /// The last day, by the minute.
    pub minutes: Vec<Period>,
}

/// What happened in a period.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Period {
    /// When it began, in seconds since 1970.
    pub began: u64,
    /// What happened.
    pub sample: Sample,
}

impl Recording {
    /// Reads a recording: one that is being recorded, or one that was left.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, is none of clockworker's, is of another version, or is cut off.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, ReadError> {
        let path = path.as_ref();
        let bytes = fs::read(path).map_err(|error| ReadError::new(path, ReadKind::Io(error)))?;
        Self::parse(&bytes).map_err(|kind| ReadError::new(path, kind))
    }

    fn parse(bytes: &[u8]) -> Result<Self, ReadKind> {
        let words: Vec<u64> = bytes.as_chunks().0.iter().map(|bytes| u64::from_ne_bytes(*bytes)).collect();
        if words.first() != Some(&layout::MAGIC) {
            return Err(ReadKind::Foreign);
        }
        let truncated =
            |needed: usize| ReadKind::Truncated { bytes: bytes.len() as u64, needed: 8 * needed as u64 };
        let Some(head) = words.get(..header::WORDS) else { return Err(truncated(header::WORDS)) };
        if head[header::VERSION] != layout::VERSION {
            return Err(ReadKind::Version(head[header::VERSION]));
        }
        let seats =
            usize::try_from(head[header::SEATS]).ok().filter(|&seats| seats > 0).ok_or(ReadKind::Foreign)?;
        let needed =
            layout::words(seats).filter(|words| words.checked_mul(8).is_some()).ok_or(ReadKind::Foreign)?;
        if words.len() < needed {
            return Err(truncated(needed));
        }
        let mut torn = 0;
        let executor = queue(&words, seats, 0, &mut torn).unwrap_or_default();
        let mut queues: Vec<_> =
            (1..seats).filter_map(|seat| queue(&words, seats, seat, &mut torn)).collect();
        queues.sort_by_key(|queue| queue.number);
        Ok(Self {
            process: head[header::PROCESS] as u32,
            started_ns: head[header::STARTED],
            updated_ns: head[header::UPDATED],
            left_out: head[header::LEFT_OUT],
            torn,
            executor,
            queues,
        })
    }
}

/// What is in a seat, if there was ever a queue in it.
fn queue(words: &[u64], seats: usize, seat: usize, torn: &mut usize) -> Option<QueueRecording> {
    let at = layout::name_at(seat);
    let [owner, name @ .., _] = whole(&words[at..at + NAME_WORDS], torn)? else { return None };
    let bytes: Vec<u8> =
        name.iter().flat_map(|word| word.to_le_bytes()).take_while(|&byte| byte != 0).collect();
    let mut tier = |tier: usize| {
        let mut periods: Vec<Period> = (0..TIERS[tier].periods as u64)
            .filter_map(|place| {
                let at = layout::record_at(seats, seat, tier, place);
                let record =
                    whole(&words[at..at + RECORD_WORDS], torn).filter(|record| record[0] == *owner)?;
                let sample: [u64; sample::WORDS] = record[2..RECORD_WORDS - 1].try_into().ok()?;
                let began = record[1].saturating_mul(TIERS[tier].seconds);
                Some(Period { began, sample: Sample::from_words(sample) })
            })
            .collect();
        periods.sort_by_key(|period| period.began);
        periods
    };
    Some(QueueRecording {
        name: String::from_utf8_lossy(&bytes).into_owned(),
        number: (*owner - 1) as u32,
        seconds: tier(0),
        tens: tier(1),
        minutes: tier(2),
    })
}

/// Words that were written and are as they were meant. Counts those that are not.
fn whole<'a>(words: &'a [u64], torn: &mut usize) -> Option<&'a [u64]> {
    let (sum, rest) = words.split_last()?;
    if *sum == 0 && rest.iter().all(|&word| word == 0) {
        return None;
    }
    if *sum == layout::checksum(rest) && rest[0] != 0 {
        return Some(words);
    }
    *torn += 1;
    None
}
