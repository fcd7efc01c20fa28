//! [`Series`]: values of the program's own.

use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::layout::Layout;
use crate::mapped::Mapped;
use crate::so_far::SoFar;
use crate::values::{Filed, Live, Totals};

/// Values of the program's own, in the file of the [`Recorder`](crate::Recorder) that [made it](crate::Recorder::series): requests,
/// bytes, microseconds, lengths.
///
/// [`record`](Series::record) adds a value to four words of the mapped file, where it is safe from the end of the process at once, and
/// reads no clock: a value counts as of the next call of [`Recorder::record`](crate::Recorder::record), as all that happened since the
/// last. What came after the last call is [there too](crate::SeriesRecording::pending).
///
/// It may be sent to another thread than the recorder's, but it is used on one at a time: `Rc<Series>` is for several tasks of an
/// executor. If the recorder is on another thread, a value that is recorded just while the recorder files may be summed in one
/// second and counted in the next.
///
/// **Dropping it** leaves what was recorded, and its name can be given again, to go on with the same series. It outlives its recorder:
/// its values are then pending for good.
#[derive(Debug)]
pub struct Series {
    file: Arc<Mapped>,
    at: usize,
    /// As long as it lives, nobody else gets the same series.
    _held: Arc<()>,
    /// Not `Sync`: two threads at once would lose values.
    _one_thread: PhantomData<Cell<()>>,
}

impl Series {
    /// Records a value: some loads and stores, no system call, no lock, no clock.
    ///
    /// # Example
    ///
    /// ```
    /// # use std::time::SystemTime;
    /// # use clockworker::Executor;
    /// # use clockworker_recorder::{Recorder, Recording};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("service.cwr");
    /// let ex = Executor::new();
    /// let mut recorder = Recorder::create(&path)?;
    /// let bytes = recorder.series("bytes sent")?;
    /// bytes.record(1_500);
    /// bytes.record(40);
    /// recorder.record(ex.stats(), SystemTime::now());
    /// bytes.record(7);
    ///
    /// let series = &Recording::read(&path)?.series[0];
    /// assert_eq!((series.seconds[0].sample.count, series.seconds[0].sample.sum), (2, 1_540));
    /// assert_eq!(series.pending.sum, 7);
    /// # Ok(())
    /// # }
    /// ```
    #[inline]
    pub fn record(&self, value: u64) {
        let Some([count, sum, greatest, inverse_least]) = self.file.some(self.at) else { return };
        raise(greatest, value);
        raise(inverse_least, !value);
        sum.store(sum.load(Ordering::Relaxed).wrapping_add(value), Ordering::Relaxed);
        // Ordering: Release, so that a recorder on another thread that sees this count sees what it counts.
        count.store(count.load(Ordering::Relaxed).wrapping_add(1), Ordering::Release);
    }
}

#[inline]
fn raise(word: &AtomicU64, to: u64) {
    if word.load(Ordering::Relaxed) < to {
        word.store(to, Ordering::Relaxed);
    }
}

/// What a recorder knows of a series.
#[derive(Debug)]
pub(crate) struct Filing {
    pub(crate) name: String,
    /// The other one is the [`Series`]'.
    held: Arc<()>,
    /// All that was filed, and the extremes of what was filed last.
    filed: Totals,
    extremes: Option<(u64, u64)>,
    so_far: SoFar<Filed>,
}

impl Filing {
    pub(crate) fn new(name: &str) -> Self {
        Self {
            name: name.into(),
            held: Arc::default(),
            filed: Totals::default(),
            extremes: None,
            so_far: SoFar::default(),
        }
    }

    /// What records into it. None if somebody has it.
    pub(crate) fn open(&mut self, file: &Arc<Mapped>, layout: &Layout, seat: usize) -> Option<Series> {
        // It also waits for what was recorded by whoever had it last, on whatever thread.
        Arc::get_mut(&mut self.held)?;
        let (file, held) = (file.clone(), self.held.clone());
        Some(Series { file, at: layout.live_at(seat), _held: held, _one_thread: PhantomData })
    }

    /// Files what came since the last time.
    pub(crate) fn file(&mut self, file: &Mapped, layout: &Layout, seat: usize, now: u64) {
        let Some(words) = file.some(layout.live_at(seat)) else { return };
        // The count first, and with Acquire: see `Series::record`.
        let seen = words.each_ref().map(|word| word.load(Ordering::Acquire));
        let mut live = Live::of(seen);
        // None if those of a value were filed, with others, while it was being recorded on another thread.
        live.extremes = live.extremes.or(self.extremes);
        let values = live.since(self.filed);
        if values.count > 0 {
            (self.filed, self.extremes) = (live.totals, live.extremes);
        }
        let filed = Filed { values, totals: self.filed };
        self.so_far.add(&filed, now, file, &layout.series, seat, seat as u64 + 1);
        if values.count > 0 {
            // A greater one that has come meanwhile stays, and is the next period's.
            for (word, seen) in words.iter().zip(seen).skip(2) {
                let _ = word.compare_exchange(seen, 0, Ordering::Relaxed, Ordering::Relaxed);
            }
        }
    }
}
