//! A flight recorder: what each queue of an executor did, second by second, and values of the program's own, in a file that outlives
//! the process.
//!
//! A [`Recorder`] writes into a mapped file: no thread, no system call. Another process reads the file meanwhile, or after a crash, as
//! a [`Recording`]; the program `clockworker-top` (feature `top`) shows it. A process that is killed loses of its queues what it had not passed to
//! [`Recorder::record`] yet, and of its own [`Series`] nothing. (What the file has after a crash of the machine is up to its file
//! system.)
//!
//! # Example
//!
//! ```
//! use std::time::SystemTime;
//!
//! use clockworker::Executor;
//! use clockworker_observe::Observe;
//! use clockworker_observe::recorder::{Recorder, Recording};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("service.cwr");
//! let ex = Executor::new();
//! let mut recorder = Recorder::create(&path)?;
//! let sent = recorder.series("bytes sent")?;
//! ex.block_on(ex.spawn(async {}))?;
//! sent.record(1_500);
//! recorder.record(ex.stats(), ex.observed(), SystemTime::now()); // in a task, once a second
//! sent.record(40);
//!
//! let recording = Recording::read(&path)?; // in any process, at any time
//! let period = &recording.periods[0];
//! assert_eq!((&*period.queues[0].name, period.queues[0].completed), ("default", 1));
//! assert_eq!((period.series[0].values.sum, recording.pending[0].values.sum), (1_500, 40));
//! # Ok(())
//! # }
//! ```

mod layout;
#[allow(unsafe_code, reason = "the mapped file")]
mod mapped;
mod recording;
mod writing;

pub use recording::{Period, QueueSample, Recording, SeriesSample, Values};
pub use writing::{Recorder, Series};
