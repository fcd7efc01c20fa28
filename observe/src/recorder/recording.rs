//! [`Recording`]: what a recorder has written, as plain data.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use clockworker::QueueStats;
use serde::{Deserialize, Serialize};

use super::layout::{self, LIVE_WORDS, RING, SERIES, SERIES_WORDS, header};
use crate::{ObservedQueue, nanos};

/// What a [`Recorder`](super::Recorder) has written so far.
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

/// What happened between two calls of [`Recorder::record`](super::Recorder::record).
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

/// What a queue did in a period. Times are in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct QueueSample {
    /// Its name at the end.
    pub name: String,
    /// Its [number](QueueStats::number).
    pub number: u32,
    /// Its share at the end.
    pub share: u64,
    /// Time its slices took.
    pub busy_ns: u64,
    /// Polls of its tasks.
    pub polls: u64,
    /// Tasks that gave an output.
    pub completed: u64,
    /// Tasks that panicked.
    pub panicked: u64,
    /// Spawns that were refused.
    pub refused: u64,
    /// Slices that ended late, as a poll was too long.
    pub overruns: u64,
    /// Tasks that were ready at the end.
    pub ready: u64,
    /// Tasks that had not finished at the end.
    pub live: u64,
    /// The p99 of the waits of ready tasks; 0 if none was counted.
    pub wait_p99_ns: u64,
    /// The longest poll of those that were timed.
    pub longest_poll_ns: u64,
}

impl QueueSample {
    /// What a queue did, given its [difference](QueueStats::since) to an earlier look, and that of what was observed of it.
    pub(crate) fn of(since: &QueueStats, observed: Option<&ObservedQueue>) -> Self {
        let latency = observed.and_then(|queue| queue.latency.as_deref());
        let wait_p99 = latency.and_then(|latency| latency.wait.quantile(0.99));
        let longest_poll = latency.and_then(|latency| latency.longest_poll).map(|poll| poll.took);
        Self {
            name: since.name.clone(),
            number: since.number,
            share: since.share.into(),
            busy_ns: nanos(since.busy),
            polls: since.polls,
            completed: since.completed,
            panicked: since.panicked,
            refused: since.refused,
            overruns: since.overruns,
            ready: since.ready as u64,
            live: since.live as u64,
            wait_p99_ns: nanos(wait_p99.unwrap_or_default()),
            longest_poll_ns: nanos(longest_poll.unwrap_or_default()),
        }
    }

    /// Adds an earlier period: counts and times become sums, `ready` and latencies the greater. The rest stays.
    pub fn add_earlier(&mut self, earlier: &Self) {
        self.busy_ns += earlier.busy_ns;
        self.polls += earlier.polls;
        self.completed += earlier.completed;
        self.panicked += earlier.panicked;
        self.refused += earlier.refused;
        self.overruns += earlier.overruns;
        self.ready = self.ready.max(earlier.ready);
        self.wait_p99_ns = self.wait_p99_ns.max(earlier.wait_p99_ns);
        self.longest_poll_ns = self.longest_poll_ns.max(earlier.longest_poll_ns);
    }
}

/// Some values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Values {
    /// How many.
    pub count: u64,
    /// Their sum, modulo 2⁶⁴.
    pub sum: u64,
    /// The least of them; 0 if there is none.
    pub min: u64,
    /// The greatest of them; 0 if there is none.
    pub max: u64,
}

impl Values {
    /// Adds more values.
    pub fn add(&mut self, more: &Values) {
        if more.count > 0 {
            self.min = if self.count == 0 { more.min } else { self.min.min(more.min) };
            self.max = self.max.max(more.max);
            self.count += more.count;
            self.sum = self.sum.wrapping_add(more.sum);
        }
    }
}

/// What was recorded into a [`Series`](super::Series) in a period.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SeriesSample {
    /// Its name.
    pub name: String,
    /// The values of the period.
    pub values: Values,
    /// How many values it had up to the end of the period.
    pub count: u64,
    /// Their sum, modulo 2⁶⁴.
    pub sum: u64,
}

impl SeriesSample {
    /// What came after it, by the live words.
    pub(crate) fn next(&self, [count, sum, greatest, inverse_least]: [u64; LIVE_WORDS]) -> Self {
        let mut values = Values { count: count.saturating_sub(self.count), ..Values::default() };
        if values.count > 0 {
            values.sum = sum.wrapping_sub(self.sum);
            (values.min, values.max) = (!inverse_least, greatest);
        }
        if values.min > values.max {
            // Their period was filed, and is torn: the extremes are gone.
            (values.min, values.max) = (values.sum / values.count, values.sum / values.count);
        }
        Self { name: self.name.clone(), values, count, sum }
    }
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
        if let Some(&version) = words.get(header::VERSION).filter(|version| **version != layout::VERSION) {
            let wrong =
                format!("version {version} of the format; this program reads version {}", layout::VERSION);
            return error(ErrorKind::InvalidData, wrong);
        }
        let length = words.get(header::LENGTH).copied().unwrap_or(u64::MAX);
        if (words.len() as u64) < length || words.len() < RING {
            let wrong = format!("cut off: it has {} bytes of {}", bytes.len(), length.saturating_mul(8));
            return error(ErrorKind::UnexpectedEof, wrong);
        }
        let periods = periods(&words[RING..]);
        let pending = pending(&words[SERIES..RING], periods.last());
        Ok(Self { process: words[header::PROCESS] as u32, periods, pending })
    }
}

/// The periods of a ring.
fn periods(ring: &[u64]) -> Vec<Period> {
    let (mut periods, mut at) = (Vec::new(), 0);
    while at < ring.len() {
        let Some((number, content, words)) = layout::read_frame(&ring[at..]) else {
            at += 1;
            continue;
        };
        at += words;
        periods.extend(postcard::from_bytes(&content).ok().map(|period| (number, period)));
    }
    periods.sort_by_key(|(number, _)| *number);
    periods.into_iter().map(|(_, period)| period).collect()
}

/// What the series had after their last period.
fn pending(series: &[u64], last: Option<&Period>) -> Vec<SeriesSample> {
    let series = series.as_chunks::<SERIES_WORDS>().0.iter().take_while(|words| words[LIVE_WORDS] != 0);
    let pending = series.enumerate().map(|(nth, &[count, sum, greatest, inverse_least, ref name @ ..])| {
        let name: Vec<u8> = layout::bytes_of(name).take_while(|byte| *byte != 0).collect();
        let name = String::from_utf8_lossy(&name).into_owned();
        let new = || SeriesSample { name, ..SeriesSample::default() };
        let filed = last.and_then(|period| period.series.get(nth).cloned());
        filed.unwrap_or_else(new).next([count, sum, greatest, inverse_least])
    });
    pending.collect()
}
