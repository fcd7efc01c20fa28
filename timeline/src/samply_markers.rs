//! [`SamplyMarkers`]: slices and slow polls, where samply finds them.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clockworker::observe::{EventKind, TaskRef, Timeline};
use memmap2::Mmap;
use rustix::thread::gettid;
use rustix::time::{ClockId, clock_gettime};

use crate::waits::Waits;

/// Polls that take as long or longer are marked, unless [`SamplyMarkers::slow_polls`] says otherwise.
const SLOW: Duration = Duration::from_millis(1);

/// Writes a timeline for [samply](https://github.com/mstange/samply), which shows it on the executor's thread, above the samples: a
/// marker `q:NAME` for each slice of a queue, and one `slow poll in NAME, spawned at PLACE` for each poll of a millisecond or more.
///
/// Make it on the executor's thread: samply finds the file because a thread has mapped it while it was recorded, and takes the markers for
/// that thread's. Then [`write`](Self::write) before the ring is full, and at the end. The file stays; samply reads it when the recording
/// is over. (Linux only. samply calls its markers unstable; this is the form that 0.13 reads.)
///
/// ```no_run
/// use clockworker::{Executor, observe::Observation};
/// use clockworker_timeline::SamplyMarkers;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let ex = Executor::new();
/// ex.observe(Observation::new().timeline(8 << 20))?;
/// let mut markers = SamplyMarkers::create(std::env::temp_dir())?;
/// ex.block_on(async { /* what is profiled */ });
/// markers.write(&ex.timeline())?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct SamplyMarkers {
    file: File,
    path: PathBuf,
    /// Nobody reads it: it is there for samply to see.
    _map: Mmap,
    slow: Duration,
    /// Slices that ended up to then are written.
    written: Duration,
    /// Bytes of the file that are whole lines.
    length: u64,
}

impl SamplyMarkers {
    /// Makes the file `marker-PID-TID.txt` in that directory, over one that is there, and maps it.
    ///
    /// # Errors
    ///
    /// If it cannot be made or mapped.
    pub fn create(directory: impl AsRef<Path>) -> io::Result<Self> {
        let thread = gettid().as_raw_nonzero();
        let path = directory.as_ref().join(format!("marker-{}-{thread}.txt", std::process::id()));
        let file = File::options().read(true).write(true).create(true).truncate(true).open(&path)?;
        // SAFETY: nothing is read through the map, so it does not matter who changes the file.
        let map = unsafe { Mmap::map(&file) }?;
        Ok(Self { file, path, _map: map, slow: SLOW, written: Duration::ZERO, length: 0 })
    }

    /// Marks polls that take so long or longer, in place of a millisecond.
    #[must_use]
    pub fn slow_polls(self, slow: Duration) -> Self {
        Self { slow, ..self }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Adds what has happened since the last call, as far as the timeline goes back. A slice that is not over is left for the next.
    ///
    /// The timeline is to be just taken, and always of the same executor.
    ///
    /// # Errors
    ///
    /// Those of the file. What could not be written then is lost.
    pub fn write(&mut self, timeline: &Timeline) -> io::Result<()> {
        // The executor's clock and the kernel's run alike, from different moments on.
        let origin = monotonic().saturating_sub(timeline.taken_at);
        let mut lines = Lines { timeline, origin, slow: self.slow, text: String::new() };
        self.written = lines.add_after(self.written);
        self.file.seek(SeekFrom::Start(self.length))?;
        let result = self.file.write_all(lines.text.as_bytes());
        match result {
            Ok(()) => self.length += lines.text.len() as u64,
            // Samply stops at a line that is cut off.
            Err(_) => self.file.set_len(self.length)?,
        }
        result
    }
}

/// The time of the kernel's clock that samply uses.
fn monotonic() -> Duration {
    let now = clock_gettime(ClockId::Monotonic);
    Duration::new(now.tv_sec.unsigned_abs(), now.tv_nsec.unsigned_abs() as u32)
}

/// What is written of a timeline.
struct Lines<'a> {
    timeline: &'a Timeline,
    /// When the executor was made.
    origin: Duration,
    slow: Duration,
    text: String,
}

impl Lines<'_> {
    /// Adds the slices that ended after that moment, and their slow polls; returns up to when that is.
    fn add_after(&mut self, written: Duration) -> Duration {
        let mut waits = Waits::default();
        let mut began = None;
        let mut slow = Vec::new();
        let mut until = written;
        for event in &self.timeline.events {
            waits.next(event);
            match event.kind {
                EventKind::SliceBegan { queue, .. } => {
                    began = Some((event.at, queue));
                    slow.clear();
                }
                EventKind::SliceEnded { .. } => {
                    if let Some((from, queue)) = began.take()
                        && event.at > written
                    {
                        slow.drain(..)
                            .for_each(|(from, to, name): (_, _, String)| self.line(from, to, &name));
                        self.line(from, event.at, &format!("q:{}", self.queue(queue)));
                        until = event.at;
                    }
                }
                EventKind::Polled { task, took, .. } if took >= self.slow => {
                    slow.push((event.at, event.at + took, self.slow_poll(task, &waits)));
                }
                _ => {}
            }
        }
        until
    }

    /// The marker's name.
    fn slow_poll(&self, task: TaskRef, waits: &Waits) -> String {
        let mut name = format!("slow poll in {}", self.queue(task.queue));
        if let Some(location) = waits.location(task) {
            name += &format!(", spawned at {location}");
        }
        name
    }

    fn queue(&self, index: u32) -> String {
        self.timeline.queue_name(index).map_or_else(|| format!("queue {index}"), str::to_owned)
    }

    /// Samply stops at the first line that it cannot read: a name must not end it.
    fn line(&mut self, from: Duration, to: Duration, name: &str) {
        let [from, to] = [from, to].map(|at| (self.origin + at).as_nanos());
        let name = name.replace(char::is_control, " ");
        let _ = writeln!(self.text, "{from} {to} {name}");
    }
}

#[cfg(test)]
mod tests {
    use clockworker::observe::{Event, PollOutcome, SliceEndReason, TimelineQueue};

    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn at(at: Duration, kind: EventKind) -> Event {
        Event { at, kind }
    }

    fn slice(from: u64, poll_ms: u64, to: u64) -> [Event; 3] {
        let task = TaskRef { queue: 0, slot: 3, generation: 9 };
        let outcome = PollOutcome::Pending;
        [
            at(ms(from), EventKind::SliceBegan { queue: 0, ready: 1 }),
            at(ms(from), EventKind::Polled { task, took: ms(poll_ms), measured_with: 1, outcome }),
            at(ms(to), EventKind::SliceEnded { queue: 0, reason: SliceEndReason::Drained }),
        ]
    }

    #[test]
    fn each_slice_and_slow_poll_is_written_once() {
        let directory = tempfile::tempdir().unwrap();
        let mut markers = SamplyMarkers::create(directory.path()).unwrap().slow_polls(ms(5));
        let queues = vec![TimelineQueue::new(0, "re\nports", 1, ms(1))];
        let before = monotonic();
        let mut timeline = Timeline::new(queues, [slice(1, 1, 2), slice(10, 7, 20)].concat());
        timeline.taken_at = ms(21);
        markers.write(&timeline).unwrap();
        timeline.events.extend(slice(30, 1, 31));
        timeline.taken_at = ms(32);
        markers.write(&timeline).unwrap();

        let text = std::fs::read_to_string(markers.path()).unwrap();
        let lines: Vec<Vec<&str>> = text.lines().map(|line| line.splitn(3, ' ').collect()).collect();
        let names: Vec<&str> = lines.iter().map(|line| line[2]).collect();
        assert_eq!(names, ["q:re ports", "slow poll in re ports", "q:re ports", "q:re ports"]);
        let took = |line: &Vec<&str>| line[1].parse::<u64>().unwrap() - line[0].parse::<u64>().unwrap();
        assert_eq!(lines.iter().map(took).collect::<Vec<_>>(), [1_000_000, 7_000_000, 10_000_000, 1_000_000]);
        // The second is 10 ms after the beginning, which was 21 ms before it was written.
        let from = Duration::from_nanos(lines[1][0].parse().unwrap());
        assert!(from + ms(11) >= before && from + ms(11) <= monotonic(), "{from:?}");
        assert!(markers.path().file_name().unwrap().to_str().unwrap().starts_with("marker-"));
    }

    #[test]
    fn a_slow_poll_of_a_slice_that_is_not_over_is_written_with_it() {
        let directory = tempfile::tempdir().unwrap();
        let mut markers = SamplyMarkers::create(directory.path()).unwrap();
        let [began, polled, ended] = slice(10, 7, 20);
        let mut timeline = Timeline::new(Vec::new(), vec![began, polled]);
        timeline.taken_at = ms(18);
        markers.write(&timeline).unwrap();
        assert_eq!(std::fs::read_to_string(markers.path()).unwrap(), "");
        timeline.events.push(ended);
        timeline.taken_at = ms(21);
        markers.write(&timeline).unwrap();
        markers.write(&timeline).unwrap();
        let text = std::fs::read_to_string(markers.path()).unwrap();
        let names: Vec<&str> = text.lines().filter_map(|line| line.splitn(3, ' ').nth(2)).collect();
        assert_eq!(names, ["slow poll in queue 0", "q:queue 0"]);
    }
}
