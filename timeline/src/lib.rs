//! What is made of a [`Timeline`](clockworker_observe::Timeline): a trace for [Perfetto](https://ui.perfetto.dev) and
//! `chrome://tracing`, a page for a browser without network, and a summary that says who held the thread and who waited for it.
//!
//! ```
//! use clockworker::Executor;
//! use clockworker_observe::{Observation, Observe};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let ex = Executor::new();
//! ex.observe(Observation::new().timeline(1 << 20))?;
//! ex.block_on(async { clockworker::spawn_local(async {}).await })?;
//! let timeline = ex.timeline();
//! let mut trace = Vec::new();
//! clockworker_timeline::write_perfetto(&timeline, &mut trace)?; // or a file
//! println!("{}", clockworker_timeline::summary(&timeline));
//! assert_eq!(clockworker_timeline::Workload::of(&timeline).measured().len(), 1);
//! # Ok(())
//! # }
//! ```

#![deny(unsafe_code)]

#[cfg(feature = "dial9")]
mod dial9;
mod perfetto;
#[cfg(all(target_os = "linux", feature = "samply-markers"))]
#[allow(unsafe_code, reason = "a file is mapped")]
mod samply_markers;
mod spans;
mod summary;
mod workload;

#[cfg(feature = "dial9")]
pub use dial9::write_dial9;
pub use perfetto::{write_html, write_perfetto};
#[cfg(all(target_os = "linux", feature = "samply-markers"))]
pub use samply_markers::SamplyMarkers;
pub use summary::summary;
pub use workload::Workload;
