//! [`Recorder`]: writes samples into the file.

use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use clockworker::{ExecutorStats, QueueStats};

use crate::error::RecorderError;
use crate::layout::{self, Layout, MAX_QUEUES, MAX_SERIES, MOST, NAME_BYTES, header};
use crate::mapped::Mapped;
use crate::name;
use crate::sample::Sample;
use crate::series::{Filing, Series};
use crate::so_far::SoFar;

/// Writes what an executor did into a file that other processes can read meanwhile, and that is left when this one is killed.
///
/// **Dropping it** leaves the file as it is.
#[derive(Debug)]
pub struct Recorder {
    path: PathBuf,
    file: Arc<Mapped>,
    layout: Layout,
    seats: Vec<Seat>,
    /// As many as have a name.
    series: Vec<Filing>,
    /// What was recorded so far.
    last: Option<ExecutorStats>,
    left_out: u64,
}

/// Where a queue's series are.
#[derive(Clone, Debug, Default)]
struct Seat {
    /// Whose it is: the queue's number and one more, so that 0 is nobody. It grows with each that takes the seat.
    owner: u64,
    name: String,
    is_taken: bool,
    so_far: SoFar<Sample>,
}

impl Recorder {
    /// Records into a new file, for up to [`MAX_QUEUES`] queues at a time and [`MAX_SERIES`] series of the program's own.
    ///
    /// A recording that is there already is kept beside it, as `FILE.1`, in place of an older one of that name: it may be why the
    /// process was started again. Nobody must make the file shorter while it is recorded into: on Unix the process would end by
    /// SIGBUS.
    ///
    /// # Errors
    ///
    /// If the file cannot be created or mapped, as the disk is full, or what is there already not be renamed.
    pub fn create(path: impl AsRef<Path>) -> Result<Self, RecorderError> {
        Self::with_room(path, MAX_QUEUES, MAX_SERIES)
    }

    /// The same for so many queues, 1 to 4,096, each some 290 KB of file, and so many series, 0 to 4,096, each some 170 KB.
    ///
    /// # Errors
    ///
    /// As [`create`](Recorder::create), and if a number is out of range.
    pub fn with_room(path: impl AsRef<Path>, queues: usize, series: usize) -> Result<Self, RecorderError> {
        let path = path.as_ref();
        let has_room = (1..=MOST).contains(&queues) && (0..=MOST).contains(&series);
        let layout = if has_room { Layout::new(queues + 1, series) } else { None };
        let layout = layout.ok_or_else(|| RecorderError::room(path, queues, series))?;
        let file = new_file(path).map_err(RecorderError::io(path))?;
        let file = Mapped::new(&file, layout.words).map_err(|error| {
            // Of no use to anybody; if it cannot be removed, the error that is told is the first.
            let _ = fs::remove_file(path);
            RecorderError::io(path)(error)
        })?;
        let seats = vec![Seat::default(); layout.queues.count];
        file.set(header::VERSION, &[layout::VERSION, seats.len() as u64, u64::from(process::id())]);
        file.set(header::SERIES, &[series as u64]);
        // Last: from here on it is a recording.
        file.set(header::MAGIC, &[layout::MAGIC]);
        let (path, file) = (path.into(), Arc::new(file));
        Ok(Self { path, file, layout, seats, series: Vec::new(), last: None, left_out: 0 })
    }

    /// A series of the program's own values in the same file. It has a place there from now on.
    ///
    /// The name of one that was dropped goes on with the same series.
    ///
    /// # Errors
    ///
    /// If somebody has the series of that name; if there is no room for one more; or if the name is empty, has more than 64 bytes or a
    /// zero byte.
    pub fn series(&mut self, name: &str) -> Result<Series, RecorderError> {
        if name.is_empty() || name.len() > NAME_BYTES || name.contains('\0') {
            return Err(RecorderError::name(&self.path, name));
        }
        let known = self.series.iter().position(|series| series.name == name);
        let seat = known.unwrap_or(self.series.len());
        if seat == self.layout.series.count {
            return Err(RecorderError::full(&self.path, seat));
        }
        if known.is_none() {
            self.series.push(Filing::new(name));
            let at = self.layout.series.name_at(seat);
            self.file.set_checked(at, [&[seat as u64 + 1], &name::to_words(name)]);
        }
        let opened = self.series[seat].open(&self.file, &self.layout, seat);
        opened.ok_or_else(|| RecorderError::in_use(&self.path, name))
    }

    /// Records what happened since the last call: `stats` are from [`Executor::stats`](clockworker::Executor::stats), always of the
    /// same executor, `now` is when. Call it once a second; what is passed on at once counts as of that second.
    ///
    /// It also files what was recorded into each [`Series`] since the last call, as of that second.
    ///
    /// It makes no system call. With more queues than it has room for, those that come last are
    /// [left out](crate::Recording::left_out).
    ///
    /// A clock that is set back makes series go on in the past, which overwrites what was there.
    pub fn record(&mut self, stats: ExecutorStats, now: SystemTime) {
        let now = since_1970(now);
        let since = self.last.as_ref().map_or_else(|| stats.clone(), |last| stats.since(last));
        self.write(0, 0, "", &Sample::of_executor(&since), now);
        self.leave_seats(&stats);
        for queue in &since.queues {
            match self.seat_of(queue) {
                Some(seat) => {
                    self.write(seat, u64::from(queue.number), &queue.name, &Sample::of_queue(queue), now);
                }
                None => self.left_out += 1,
            }
        }
        for (seat, series) in self.series.iter_mut().enumerate() {
            series.file(&self.file, &self.layout, seat, now);
        }
        if self.last.replace(stats).is_none() {
            self.file.set(header::STARTED, &[now]);
        }
        self.file.set(header::UPDATED, &[now, self.left_out]);
    }

    /// Gives the seats of queues that are gone away. What is in them can be read until another queue takes them.
    fn leave_seats(&mut self, stats: &ExecutorStats) {
        for seat in &mut self.seats[1..] {
            seat.is_taken =
                seat.is_taken && stats.queues.iter().any(|queue| u64::from(queue.number) + 1 == seat.owner);
        }
    }

    /// Its seat, or else the one that was left first.
    fn seat_of(&self, queue: &QueueStats) -> Option<usize> {
        let owner = u64::from(queue.number) + 1;
        let own = (1..self.seats.len()).find(|&seat| self.seats[seat].owner == owner);
        own.or_else(|| {
            let free = (1..self.seats.len()).filter(|&seat| !self.seats[seat].is_taken);
            free.min_by_key(|&seat| self.seats[seat].owner)
        })
    }

    fn write(&mut self, at: usize, number: u64, name: &str, sample: &Sample, now: u64) {
        let (seat, seats) = (&mut self.seats[at], &self.layout.queues);
        let owner = number + 1;
        if seat.owner != owner {
            *seat = Seat { owner, ..Seat::default() };
        }
        if !seat.is_taken || seat.name != name {
            seat.is_taken = true;
            name.clone_into(&mut seat.name);
            self.file.set_checked(seats.name_at(at), [&[owner], &name::to_words(name)]);
        }
        seat.so_far.add(sample, now, &self.file, seats, at, owner);
    }
}

/// A new file of that name. One that is there gets another name first.
fn new_file(path: &Path) -> std::io::Result<File> {
    let has_something = fs::metadata(path).is_ok_and(|known| known.is_file() && known.len() > 0);
    if has_something {
        let mut kept = PathBuf::from(path).into_os_string();
        kept.push(".1");
        fs::rename(path, kept)?;
    }
    OpenOptions::new().read(true).write(true).create(true).truncate(true).open(path)
}

/// Nanoseconds since 1970: 0 before that, and in the year 2554 the clock stops.
fn since_1970(time: SystemTime) -> u64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO);
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}
