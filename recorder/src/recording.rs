//! [`Recording`]: what a recorder has written, as plain data.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::layout::{self, Frame, LIVE, LIVE_WORDS, NAMES, RING, header};
use crate::sample::{Sample, SeriesSample};

/// What a [`Recorder`](crate::Recorder) has written so far.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Recording {
    /// The process that recorded it.
    pub process: u32,
    /// The last periods, as many as there is room for, in the order of time. One that was being written when the process was killed is
    /// missing.
    pub periods: Vec<Period>,
    /// What came into each series after the last of them.
    pub pending: Vec<SeriesSample>,
}

/// What happened between two calls of [`Recorder::record`](crate::Recorder::record).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Period {
    /// When it ended, in nanoseconds since 1970.
    pub at_ns: u64,
    /// How long it was. The first began when the executor was made.
    pub took_ns: u64,
    /// The executor's part of it: all that its host did not have.
    pub busy_ns: u64,
    /// The queues, in the order in which they were created.
    pub queues: Vec<QueueSample>,
    /// The program's own series, in the order in which they were made.
    pub series: Vec<SeriesSample>,
}

/// What a queue did in a period.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct QueueSample {
    /// Its name.
    pub name: String,
    /// Its [number](clockworker::QueueStats::number).
    pub number: u32,
    /// What it did.
    pub sample: Sample,
}

impl Recording {
    /// Reads a recording: one that is being recorded, or one that was left.
    ///
    /// # Errors
    ///
    /// If the file cannot be read. [`UnexpectedEof`](ErrorKind::UnexpectedEof) if it is cut off, [`InvalidData`](ErrorKind::InvalidData)
    /// if it is no recording, is of a machine with another order of bytes, or has another version of the format.
    pub fn read(path: impl AsRef<Path>) -> io::Result<Self> {
        let bytes = fs::read(path)?;
        let words: Vec<u64> = bytes.as_chunks().0.iter().map(|bytes| u64::from_ne_bytes(*bytes)).collect();
        let error = |kind, wrong: String| Err(io::Error::new(kind, wrong));
        if words.first() != Some(&layout::MAGIC) {
            return error(ErrorKind::InvalidData, "no recording of clockworker".into());
        }
        let length = words.get(header::LENGTH).copied().unwrap_or(u64::MAX);
        match words.get(header::VERSION) {
            Some(&layout::VERSION) if words.len() as u64 >= length && words.len() >= RING => {}
            Some(&layout::VERSION) | None => {
                let wrong = format!("cut off: it has {} bytes of {}", bytes.len(), length.saturating_mul(8));
                return error(ErrorKind::UnexpectedEof, wrong);
            }
            Some(other) => {
                let wrong =
                    format!("version {other} of the format; this program reads version {}", layout::VERSION);
                return error(ErrorKind::InvalidData, wrong);
            }
        }
        let periods = periods(&words[RING..]);
        let pending = pending(&words, periods.last());
        Ok(Self { process: words[header::PROCESS] as u32, periods, pending })
    }
}

/// The periods of a ring.
fn periods(ring: &[u64]) -> Vec<Period> {
    let (mut frames, mut at) = (Vec::new(), 0);
    while at < ring.len() {
        let frame = Frame::at(&ring[at..]);
        at += frame.as_ref().map_or(1, |frame| frame.words);
        frames.extend(frame);
    }
    frames.sort_by_key(|frame| frame.number);
    frames.iter().filter_map(|frame| postcard::from_bytes(&frame.content).ok()).collect()
}

/// What the series had after their last period.
fn pending(words: &[u64], last: Option<&Period>) -> Vec<SeriesSample> {
    let names = Frame::at(&words[NAMES..RING]).and_then(|frame| postcard::from_bytes(&frame.content).ok());
    // One more was being added.
    let filed_names =
        || last.iter().flat_map(|period| &period.series).map(|series| series.name.clone()).collect();
    let names: Vec<String> = names.unwrap_or_else(filed_names);
    let live = words[LIVE..].as_chunks::<LIVE_WORDS>().0;
    let filed = |nth: usize| last.and_then(|period| period.series.get(nth));
    let pending = names.into_iter().zip(live).enumerate().map(|(nth, (name, live))| match filed(nth) {
        Some(filed) => filed.next(*live),
        None => SeriesSample { name, ..SeriesSample::default() }.next(*live),
    });
    pending.collect()
}
