//! [`Recording`]: what a recorder has written, as plain data.

use std::fs;
use std::path::Path;

use serde::Serialize;

use crate::entry::Entry;
use crate::error::{ReadError, ReadKind};
use crate::layout::{self, Layout, MOST, NAME_WORDS, Seats, TIERS, header};
use crate::name;
use crate::sample::Sample;
use crate::values::{Filed, Live, Values};

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
    /// The program's own series, in the order in which they were made.
    pub series: Vec<SeriesRecording>,
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

/// A [`Series`](crate::Series) of the program's own. A period in which nothing was recorded into it is there if the recorder was called
/// in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SeriesRecording {
    /// Its name.
    pub name: String,
    /// How many values it has had.
    pub count: u64,
    /// Their sum, modulo 2⁶⁴. It is ahead of the count by what was just being recorded.
    pub sum: u64,
    /// Values that came after the last call of [`Recorder::record`](crate::Recorder::record), or whose second is [torn](Recording::torn):
    /// of these, `min` and `max` may be the mean.
    pub pending: Values,
    /// The last 10 minutes, by the second.
    pub seconds: Vec<Period<Values>>,
    /// The last hour, by ten seconds.
    pub tens: Vec<Period<Values>>,
    /// The last day, by the minute.
    pub minutes: Vec<Period<Values>>,
}

/// What happened in a period: of a queue a [`Sample`], of a series [`Values`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Period<S = Sample> {
    /// When it began, in seconds since 1970.
    pub began: u64,
    /// What happened.
    pub sample: S,
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
        let layout = layout(head).ok_or(ReadKind::Foreign)?;
        if words.len() < layout.words {
            return Err(truncated(layout.words));
        }
        let mut seats = Reader { words: &words, layout: &layout, torn: 0 };
        let executor = seats.queue(0).unwrap_or_default();
        let mut queues: Vec<_> = (1..layout.queues.count).filter_map(|seat| seats.queue(seat)).collect();
        queues.sort_by_key(|queue| queue.number);
        let series = (0..layout.series.count).filter_map(|seat| seats.series(seat)).collect();
        Ok(Self {
            process: head[header::PROCESS] as u32,
            started_ns: head[header::STARTED],
            updated_ns: head[header::UPDATED],
            left_out: head[header::LEFT_OUT],
            torn: seats.torn,
            executor,
            queues,
            series,
        })
    }
}

/// None if no recorder has so many seats.
fn layout(head: &[u64]) -> Option<Layout> {
    let count = |at: usize| usize::try_from(head[at]).ok();
    let (queues, series) = (count(header::SEATS)?, count(header::SERIES)?);
    let is_possible = (1..=MOST + 1).contains(&queues) && series <= MOST;
    if is_possible { Layout::new(queues, series) } else { None }
}

/// Reads what is in the seats.
struct Reader<'a> {
    words: &'a [u64],
    layout: &'a Layout,
    /// Names and records that are not as they were meant.
    torn: usize,
}

impl Reader<'_> {
    /// What is in a seat, if there was ever a queue in it.
    fn queue(&mut self, seat: usize) -> Option<QueueRecording> {
        let seats = &self.layout.queues;
        let (owner, name) = self.name(seats, seat)?;
        Some(QueueRecording {
            name,
            number: (owner - 1) as u32,
            seconds: self.periods(seats, seat, 0, owner),
            tens: self.periods(seats, seat, 1, owner),
            minutes: self.periods(seats, seat, 2, owner),
        })
    }

    fn series(&mut self, seat: usize) -> Option<SeriesRecording> {
        let seats = &self.layout.series;
        let (owner, name) = self.name(seats, seat)?;
        let tiers = [0, 1, 2].map(|tier| self.periods::<Filed>(seats, seat, tier, owner));
        // By their count and not by their time: a clock may have been set back.
        let filed = tiers[0].iter().map(|period| period.sample.totals).max_by_key(|totals| totals.count);
        let live = Live::of(*self.words[self.layout.live_at(seat)..].first_chunk()?);
        let [seconds, tens, minutes] = tiers.map(|periods| {
            let values = |period: Period<Filed>| Period { began: period.began, sample: period.sample.values };
            periods.into_iter().map(values).collect()
        });
        let (totals, pending) = (live.totals, live.since(filed.unwrap_or_default()));
        Some(SeriesRecording { name, count: totals.count, sum: totals.sum, pending, seconds, tens, minutes })
    }

    /// Whose the seat is, and what it is called.
    fn name(&mut self, seats: &Seats, seat: usize) -> Option<(u64, String)> {
        let at = seats.name_at(seat);
        let [owner, name @ .., _] = self.whole(at, NAME_WORDS)? else { return None };
        Some((*owner, name::from_words(name)))
    }

    fn periods<E: Entry>(&mut self, seats: &Seats, seat: usize, tier: usize, owner: u64) -> Vec<Period<E>> {
        let mut periods: Vec<Period<E>> = (0..TIERS[tier].periods as u64)
            .filter_map(|place| {
                let record = self.whole(seats.record_at(seat, tier, place), seats.record_words)?;
                let [of, period, entry @ .., _] = record else { return None };
                let began = period.saturating_mul(TIERS[tier].seconds);
                let sample = E::from_words(entry).filter(|_| *of == owner)?;
                Some(Period { began, sample })
            })
            .collect();
        periods.sort_by_key(|period| period.began);
        periods
    }

    /// Words that were written and are as they were meant. Counts those that are not.
    fn whole(&mut self, at: usize, words: usize) -> Option<&[u64]> {
        let words = &self.words[at..at + words];
        let (sum, rest) = words.split_last()?;
        if *sum == 0 && rest.iter().all(|&word| word == 0) {
            return None;
        }
        if *sum == layout::checksum(rest) && rest[0] != 0 {
            return Some(words);
        }
        self.torn += 1;
        None
    }
}
