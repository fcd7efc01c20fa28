//! [`SamplyMarkers`]: slices and slow polls, where samply finds them.

use std::cmp::Reverse;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::Timeline;
use memmap2::Mmap;
use rustix::thread::gettid;
use rustix::time::{ClockId, clock_gettime};

use super::spans::{QueueSpans, Spans};

/// Polls that take as long or longer are marked.
const SLOW: Duration = Duration::from_millis(1);

/// Writes a timeline for [samply](https://github.com/mstange/samply), which shows it on the executor's thread, above the samples: a
/// marker `q:NAME` for each slice of a queue, and one `slow poll in NAME, spawned at PLACE` for each poll of a millisecond or more.
///
/// Make it on the executor's thread: samply finds the file because a thread has mapped it while it was recorded, and takes the markers for
/// that thread's. Then [`write`](Self::write) before the ring is full, and at the end. The file stays; samply reads it when the recording
/// is over. (Linux only. samply calls its markers unstable; this is the form that 0.13 reads.)
/// `examples/samply_markers.rs` does so.
#[derive(Debug)]
pub struct SamplyMarkers {
    file: File,
    path: PathBuf,
    /// Nothing is read through it: it is there for samply to see.
    _map: Mmap,
    /// Slices that ended up to then are written.
    written: Duration,
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
        File::create(&path)?;
        let file = File::options().read(true).append(true).open(&path)?;
        // SAFETY: nothing is read through the map, so it does not matter who changes the file.
        let map = unsafe { Mmap::map(&file) }?;
        Ok(Self { file, path, _map: map, written: Duration::ZERO })
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
        let spans = Spans::of(timeline);
        let slices = spans.queues.values().flat_map(|queue| &queue.slices);
        let until = slices.filter(|slice| slice.ended.is_some()).map(|slice| slice.to).max();
        let (since, until) = (self.written, until.unwrap_or_default().max(self.written));
        self.written = until;
        let mut markers = Vec::new();
        for QueueSpans { name, slices, polls, .. } in spans.queues.values() {
            markers.extend(slices.iter().map(|slice| (slice.from, slice.to, format!("q:{name}"))));
            let slow = polls.iter().map(|poll| poll.span).filter(|poll| poll.length() >= SLOW);
            markers.extend(slow.map(|poll| {
                let place = poll.location.map_or_else(String::new, |place| format!(", spawned at {place}"));
                (poll.from, poll.to, format!("slow poll in {name}{place}"))
            }));
        }
        markers.retain(|(_, to, _)| since < *to && *to <= until);
        // Slow polls before the slice that they are in.
        markers.sort_by_key(|(from, to, _)| (*to, Reverse(*from)));
        // The executor's clock and the kernel's, which is samply's, run alike, from different moments on.
        let now = Duration::try_from(clock_gettime(ClockId::Monotonic)).unwrap_or_default();
        let origin = now.saturating_sub(timeline.taken_at);
        let mut lines = String::new();
        for (from, to, name) in markers {
            let [from, to] = [from, to].map(|at| (origin + at).as_nanos());
            // Samply stops at the first line that it cannot read: a name must not end it.
            let _ = writeln!(lines, "{from} {to} {}", name.replace(char::is_control, " "));
        }
        let length = self.file.metadata()?.len();
        let result = self.file.write_all(lines.as_bytes());
        if result.is_err() {
            // Samply stops at a line that is cut off.
            self.file.set_len(length)?;
        }
        result
    }
}
