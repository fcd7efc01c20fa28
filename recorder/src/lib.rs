//! A flight recorder: what each queue of a [`clockworker`] executor did, second by second, and values of the program's own, in a file that
//! outlives the process.
//!
//! A [`Recorder`] writes into a mapped file: no thread, no system call. Another process reads
//! the file meanwhile, or after a crash, as a [`Recording`]; the program `clockworker-top` shows it. A process that is killed loses
//! of its queues what it had not passed to [`Recorder::record`] yet, and of its own [`Series`] nothing. (What the machine itself loses, if
//! it crashes, is up to its file system.)
//!
//! The file has 10 minutes by the second, an hour by 10 seconds and a day by the minute, in 290 KB a queue and 170 KB a series, which it
//! takes at once: a disk that is full is an error when the recorder is created, and not later.
//!
//! # Example
//!
//! ```
//! use clockworker::Executor;
//! use clockworker_recorder::{Recorder, Recording};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("service.cwr");
//! let ex = Executor::new();
//! let mut recorder = Recorder::create(&path)?;
//! ex.block_on(ex.spawn(async {}))?;
//! recorder.record(ex.stats(), std::time::SystemTime::now()); // in a task, once a second
//!
//! let recording = Recording::read(&path)?; // any process, at any time
//! assert_eq!(recording.queues[0].name, "default");
//! assert_eq!(recording.queues[0].seconds[0].sample.completed, 1);
//! # Ok(())
//! # }
//! ```

#![deny(unsafe_code)]

mod entry;
mod error;
mod layout;
#[allow(unsafe_code, reason = "the mapped file")]
mod mapped;
mod name;
mod recorder;
mod recording;
mod sample;
mod series;
mod so_far;
mod values;

pub use error::{ReadError, RecorderError};
pub use layout::{MAX_QUEUES, MAX_SERIES, TIERS, Tier};
pub use recorder::Recorder;
pub use recording::{Period, QueueRecording, Recording, SeriesRecording};
pub use sample::Sample;
pub use series::Series;
pub use values::Values;
