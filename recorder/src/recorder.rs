//! [`Recorder`]: writes samples into the file.

use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};
use std::process;
use std::time::{Duration, SystemTime};

use clockworker::{ExecutorStats, QueueStats};

use crate::error::RecorderError;
use crate::layout::{self, MAX_QUEUES, NAME_BYTES, NAME_WORDS, RECORD_WORDS, TIERS, header};
use crate::mapped::Mapped;
use crate::sample::{self, Sample};

/// Queues of a recorder at most: more than a gigabyte.
const MOST_QUEUES: usize = 4_096;

/// Writes what an executor did into a file that other processes can read meanwhile, and that is left when this one is killed.
///
/// **Dropping it** leaves the file as it is.
#[derive(Debug)]
pub struct Recorder {
    file: Mapped,
    seats: Vec<Seat>,
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
    /// What was last written, by tier: the period, and its sample so far.
    current: [Option<(u64, Sample)>; TIERS.len()],
}

impl Recorder {
    /// Records into a new file, for up to [`MAX_QUEUES`] queues at a time.
    ///
    /// A recording that is there already is kept beside it, as `FILE.1`, in place of an older one of that name: it may be why the
    /// process was started again. Nobody must make the file shorter while it is recorded into: on Unix the process would end by
    /// SIGBUS.
    ///
    /// # Errors
    ///
    /// If the file cannot be created or mapped, as the disk is full, or what is there already not be renamed.
    pub fn create(path: impl AsRef<Path>) -> Result<Self, RecorderError> {
        Self::with_queues(path, MAX_QUEUES)
    }

    /// The same for so many queues: 1 to 4,096, each some 300 KiB of file.
    ///
    /// # Errors
    ///
    /// As [`create`](Recorder::create), and if the number is out of range.
    pub fn with_queues(path: impl AsRef<Path>, queues: usize) -> Result<Self, RecorderError> {
        let path = path.as_ref();
        if !(1..=MOST_QUEUES).contains(&queues) {
            return Err(RecorderError::queues(path, queues));
        }
        let seats = queues + 1;
        let words = layout::words(seats).ok_or_else(|| RecorderError::queues(path, queues))?;
        let file = new_file(path).map_err(RecorderError::io(path))?;
        let mut file = Mapped::new(&file, words).map_err(|error| {
            // Of no use to anybody; if it cannot be removed, the error that is told is the first.
            let _ = fs::remove_file(path);
            RecorderError::io(path)(error)
        })?;
        file.set(header::VERSION, &[layout::VERSION, seats as u64, u64::from(process::id())]);
        // Last: from here on it is a recording.
        file.set(header::MAGIC, &[layout::MAGIC]);
        Ok(Self { file, seats: vec![Seat::default(); seats], last: None, left_out: 0 })
    }

    /// Records what happened since the last call: `stats` are from [`Executor::stats`](clockworker::Executor::stats), always of the
    /// same executor, `now` is when. Call it once a second; what is passed on at once counts as of that second.
    ///
    /// It makes no system call. With more queues than it has room for, those that come last are left out ([`Recording::left_out`](crate::Recording::left_out)).
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
        let seats = self.seats.len();
        let seat = &mut self.seats[at];
        let owner = number + 1;
        if seat.owner != owner {
            *seat = Seat { owner, ..Seat::default() };
        }
        if !seat.is_taken || seat.name != name {
            seat.is_taken = true;
            name.clone_into(&mut seat.name);
            self.file.set(layout::name_at(at), &name_words(owner, name));
        }
        for (tier, current) in seat.current.iter_mut().enumerate() {
            let period = now / 1_000_000_000 / TIERS[tier].seconds;
            match current {
                Some((same, so_far)) if *same == period => so_far.add(sample),
                _ => *current = Some((period, *sample)),
            }
            let so_far = current.map_or(*sample, |(_, so_far)| so_far);
            self.file.set(layout::record_at(seats, at, tier, period), &record_words(owner, period, so_far));
        }
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

fn name_words(owner: u64, name: &str) -> [u64; NAME_WORDS] {
    let mut bytes = [0; NAME_BYTES];
    let end = (0..=name.len().min(NAME_BYTES)).rev().find(|&end| name.is_char_boundary(end)).unwrap_or(0);
    bytes[..end].copy_from_slice(&name.as_bytes()[..end]);
    let mut words = [0; NAME_WORDS];
    words[0] = owner;
    for (word, bytes) in words[1..].iter_mut().zip(bytes.chunks_exact(8)) {
        *word = bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
    }
    words[NAME_WORDS - 1] = layout::checksum(&words[..NAME_WORDS - 1]);
    words
}

fn record_words(owner: u64, period: u64, sample: Sample) -> [u64; RECORD_WORDS] {
    let mut words = [0; RECORD_WORDS];
    words[0] = owner;
    words[1] = period;
    words[2..2 + sample::WORDS].copy_from_slice(&sample.to_words());
    words[RECORD_WORDS - 1] = layout::checksum(&words[..RECORD_WORDS - 1]);
    words
}

/// Nanoseconds since 1970: 0 before that, and in the year 2554 the clock stops.
fn since_1970(time: SystemTime) -> u64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO);
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}
