//! [`Recorder`] and [`Series`]: what writes into the file.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::process;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use clockworker::ExecutorStats;

use super::layout::{self, LIVE_WORDS, MAX_NAME, MAX_SERIES, RING, SERIES, SERIES_WORDS, header};
use super::mapped::Mapped;
use super::recording::{Period, QueueSample, SeriesSample};
use crate::{Observed, nanos};

const BYTES: usize = 16 << 20;
const LEAST_BYTES: usize = 16 << 10;

/// Writes what an executor did into a file that other processes can read meanwhile, and that is left when this one is killed.
///
/// **Dropping it** leaves the file as it is.
#[derive(Debug)]
pub struct Recorder {
    file: Rc<Mapped>,
    /// Where the next frame goes.
    at: usize,
    calls: u64,
    last: Option<(ExecutorStats, Observed)>,
    /// As they were filed last.
    series: Vec<SeriesSample>,
}

impl Recorder {
    /// Records into a new file of 16 MiB, which holds the last hours of a service that calls it once a second: a call takes some 50 bytes
    /// and 50 more for each queue and series. They are taken from the disk at once.
    ///
    /// A recording that is there already is kept beside it as `FILE.1`, in place of an older one: it may be why the process was started
    /// again. Nothing must make the file shorter while it is recorded into: on Unix the process would end by SIGBUS.
    ///
    /// # Errors
    ///
    /// If the file cannot be created or mapped, as the disk is full, or the one that is there cannot be renamed.
    pub fn create(path: impl AsRef<Path>) -> io::Result<Self> {
        Self::with_bytes(path, BYTES)
    }

    /// Does so with a file of another size, of 16 KiB at least.
    ///
    /// # Errors
    ///
    /// As [`create`](Recorder::create).
    pub fn with_bytes(path: impl AsRef<Path>, bytes: usize) -> io::Result<Self> {
        let (path, words) = (path.as_ref(), bytes.max(LEAST_BYTES) / 8);
        let file = Mapped::new(&new_file(path)?, words).inspect_err(|_| {
            // Zeros are of no use.
            let _ = fs::remove_file(path);
        })?;
        file.set(header::VERSION, &[layout::VERSION, u64::from(process::id()), words as u64]);
        // Last: from here on it is a recording.
        file.set(header::MAGIC, &[layout::MAGIC]);
        Ok(Self { file: Rc::new(file), at: RING, calls: 0, last: None, series: Vec::new() })
    }

    /// A series of the program's own values. A name that was given before gives the same series.
    ///
    /// # Errors
    ///
    /// [`StorageFull`](ErrorKind::StorageFull) if it is one more than 64; [`InvalidInput`](ErrorKind::InvalidInput) if its name is empty,
    /// has more than 64 bytes, or one that is zero.
    pub fn series(&mut self, name: &str) -> io::Result<Series> {
        if name.is_empty() || name.len() > MAX_NAME || name.contains('\0') {
            let wrong =
                format!("{name:?}: the name of a series has 1 to {MAX_NAME} bytes, none of them zero");
            return Err(io::Error::new(ErrorKind::InvalidInput, wrong));
        }
        let known = self.series.iter().position(|series| series.name == name);
        let nth = known.unwrap_or(self.series.len());
        if nth == MAX_SERIES {
            return Err(io::Error::new(ErrorKind::StorageFull, format!("no more than {MAX_SERIES} series")));
        }
        if known.is_none() {
            self.series.push(SeriesSample { name: name.into(), ..SeriesSample::default() });
            let at = SERIES + nth * SERIES_WORDS + LIVE_WORDS;
            // The first word comes last: with it the name is whole.
            for (nth, word) in layout::words_of(name.as_bytes()).enumerate().rev() {
                self.file.set(at + nth, &[word]);
            }
        }
        Ok(Series { file: self.file.clone(), nth })
    }

    /// Records what happened since the last call: `stats` are from [`Executor::stats`](clockworker::Executor::stats) and `observed`
    /// from [`Observe::observed`](crate::Observe::observed), or `Observed::default()`, always of the same executor; `now` is when. What came into each [`Series`] since the last call counts as of this one.
    ///
    /// Call it once a second, or when there is something to tell. It makes no system call.
    pub fn record(&mut self, stats: ExecutorStats, observed: Observed, now: SystemTime) {
        let (since, newly) = match &self.last {
            Some((last, earlier)) => (stats.since(last), observed.since(earlier)),
            None => (stats.clone(), observed.clone()),
        };
        for (nth, series) in self.series.iter_mut().enumerate() {
            *series = series.next(live(&self.file, nth).map(|word| word.load(Ordering::Relaxed)));
        }
        let busy = since.busy + since.main + since.own;
        let period = Period {
            at_ns: now.duration_since(SystemTime::UNIX_EPOCH).map_or(0, nanos),
            took_ns: nanos(busy + since.host),
            busy_ns: nanos(busy),
            queues: since
                .queues
                .iter()
                .map(|queue| QueueSample::of(queue, newly.queue(queue.number)))
                .collect(),
            series: self.series.clone(),
        };
        // It has no types that postcard cannot write.
        let content = postcard::to_stdvec(&period).unwrap_or_default();
        self.append(&layout::frame(self.calls, &content));
        // Only now: until the frame is whole, nothing else has the extremes.
        for nth in 0..self.series.len() {
            live(&self.file, nth)[2..].iter().for_each(|word| word.store(0, Ordering::Release));
        }
        self.calls += 1;
        self.last = Some((stats, observed));
    }

    /// Writes a frame over the oldest ones. One that is longer than the ring is left out.
    fn append(&mut self, frame: &[u64]) {
        let end = self.file.words().len();
        if self.at + frame.len() > end {
            self.at = RING;
        }
        if self.at + frame.len() <= end {
            self.file.set(self.at, frame);
            self.at += frame.len();
        }
    }
}

/// Values of the program's own, in the file of the [`Recorder`] that [made it](Recorder::series): requests, bytes, microseconds, lengths.
///
/// A value is safe from the end of the process at once. It counts as of the next call of [`Recorder::record`]; what came after the last
/// call is [there too](super::Recording::pending). Clones record into the same series, also when the recorder was dropped.
#[derive(Clone, Debug)]
pub struct Series {
    file: Rc<Mapped>,
    nth: usize,
}

impl Series {
    /// Records a value: some loads and stores, no system call, no lock, no clock.
    #[inline]
    pub fn record(&self, value: u64) {
        let [count, sum, greatest, inverse_least] = live(&self.file, self.nth);
        raise(greatest, value);
        raise(inverse_least, !value);
        add(sum, value);
        add(count, 1);
    }
}

#[inline]
fn live(file: &Mapped, nth: usize) -> [&AtomicU64; LIVE_WORDS] {
    let [count, sum, greatest, inverse_least, ..] =
        &file.words()[SERIES..].as_chunks::<SERIES_WORDS>().0[nth];
    [count, sum, greatest, inverse_least]
}

// One thread writes the live words, so no read-modify-write is needed. Ordering: Release, so that a kill leaves what came first.

#[inline]
fn raise(word: &AtomicU64, to: u64) {
    if word.load(Ordering::Relaxed) < to {
        word.store(to, Ordering::Release);
    }
}

#[inline]
fn add(word: &AtomicU64, value: u64) {
    word.store(word.load(Ordering::Relaxed).wrapping_add(value), Ordering::Release);
}

/// A new file of that name. One that is there gets another name first.
fn new_file(path: &Path) -> io::Result<File> {
    let has_something = fs::metadata(path).is_ok_and(|known| known.is_file() && known.len() > 0);
    if has_something {
        let mut kept = PathBuf::from(path).into_os_string();
        kept.push(".1");
        fs::rename(path, kept)?;
    }
    OpenOptions::new().read(true).write(true).create(true).truncate(true).open(path)
}
