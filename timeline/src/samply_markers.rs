//! [`SamplyMarkers`]: slices and slow polls, where samply finds them.

use std::cmp::Reverse;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clockworker::observe::Timeline;
use memmap2::Mmap;
use rustix::thread::gettid;
use rustix::time::{ClockId, clock_gettime};

use crate::spans::{Poll, QueueSpans, Slice, Spans};

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
        let mut markers = Vec::new();
        for queue in Spans::of(timeline).queues.values() {
            self.add_markers(queue, &mut markers);
        }
        // Slow polls before the slice that they are in.
        markers.sort_by_key(|(from, to, _)| (*to, Reverse(*from)));
        self.written = markers.last().map_or(self.written, |(_, to, _)| *to);
        // The executor's clock and the kernel's run alike, from different moments on.
        let origin = monotonic().saturating_sub(timeline.taken_at);
        let mut lines = String::new();
        for (from, to, name) in markers {
            let [from, to] = [from, to].map(|at| (origin + at).as_nanos());
            // Samply stops at the first line that it cannot read: a name must not end it.
            let _ = writeln!(lines, "{from} {to} {}", name.replace(char::is_control, " "));
        }
        self.file.seek(SeekFrom::Start(self.length))?;
        let result = self.file.write_all(lines.as_bytes());
        match result {
            Ok(()) => self.length += lines.len() as u64,
            // Samply stops at a line that is cut off.
            Err(_) => self.file.set_len(self.length)?,
        }
        result
    }

    /// Adds the slices that have ended since the last call, and their slow polls.
    fn add_markers(&self, queue: &QueueSpans, markers: &mut Vec<(Duration, Duration, String)>) {
        let is_new = |slice: &&Slice| slice.ended.is_some() && slice.to > self.written;
        let slices: Vec<&Slice> = queue.slices.iter().filter(is_new).collect();
        markers.extend(slices.iter().map(|slice| (slice.from, slice.to, format!("q:{}", queue.name))));
        for Poll { span, .. } in queue.polls.iter().filter(|poll| poll.span.length() >= self.slow) {
            let begun = slices.partition_point(|slice| slice.from <= span.from);
            if begun > 0 && span.from < slices[begun - 1].to {
                let place =
                    span.location.map_or_else(String::new, |location| format!(", spawned at {location}"));
                markers.push((span.from, span.to, format!("slow poll in {}{place}", queue.name)));
            }
        }
    }
}

/// The time of the kernel's clock that samply uses.
fn monotonic() -> Duration {
    let now = clock_gettime(ClockId::Monotonic);
    Duration::new(now.tv_sec.unsigned_abs(), now.tv_nsec.unsigned_abs() as u32)
}

#[cfg(test)]
mod tests {
    use clockworker::observe::{Event, EventKind, PollOutcome, SliceEndReason, TaskRef, TimelineQueue};

    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn slice(from: u64, poll_ms: u64, to: u64) -> [Event; 3] {
        let (task, outcome) = (TaskRef { queue: 0, slot: 3, generation: 9 }, PollOutcome::Pending);
        let polled = EventKind::Polled { task, took: ms(poll_ms), measured_with: 1, outcome };
        let ended = EventKind::SliceEnded { queue: 0, reason: SliceEndReason::Drained };
        [(from, EventKind::SliceBegan { queue: 0, ready: 1 }), (from, polled), (to, ended)]
            .map(|(at, kind)| Event { at: ms(at), kind })
    }

    /// From when, for how long, and the name.
    fn lines(markers: &SamplyMarkers) -> Vec<(Duration, Duration, String)> {
        let text = std::fs::read_to_string(markers.path()).unwrap();
        let time = |text: &str| Duration::from_nanos(text.parse().unwrap());
        let line = |line: &str| {
            let [from, to, name] = line.splitn(3, ' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
            (time(from), time(to) - time(from), name.to_owned())
        };
        text.lines().map(line).collect()
    }

    #[test]
    fn each_slice_that_is_over_is_written_once_with_its_slow_polls() {
        let directory = tempfile::tempdir().unwrap();
        let mut markers = SamplyMarkers::create(directory.path()).unwrap().slow_polls(ms(5));
        assert!(markers.path().file_name().unwrap().to_str().unwrap().starts_with("marker-"));
        let queues = vec![TimelineQueue::new(0, "re\nports", 1, ms(1))];
        let all = [slice(1, 1, 2), slice(10, 7, 20), slice(30, 1, 31)].concat();
        let before = monotonic();
        // The second slice is not over yet; then it is; then all is, and is written again.
        for (events, taken_at) in [(5, 18), (6, 21), (9, 32), (9, 33)] {
            let mut timeline = Timeline::new(queues.clone(), all[..events].to_vec());
            timeline.taken_at = ms(taken_at);
            markers.write(&timeline).unwrap();
        }
        let lines = lines(&markers);
        let found: Vec<_> = lines.iter().map(|(_, took, name)| (*took, &**name)).collect();
        let slow = (ms(7), "slow poll in re ports");
        assert_eq!(found, [(ms(1), "q:re ports"), slow, (ms(10), "q:re ports"), (ms(1), "q:re ports")]);
        // The slow poll began 10 ms after the executor was made, which was 21 ms before it was written.
        let from = lines[1].0;
        assert!(from + ms(11) >= before && from + ms(11) <= monotonic(), "{from:?}");
    }
}
