//! [`Sampling`]: pprof, from the first sample to the flame graph.

use std::fmt;
use std::fs::{self, File};
use std::path::Path;

use pprof::{Error, Frames, ProfilerGuard, Report};
use rustix::process::{Signal, getpid, kill_process};

/// Samples per second of CPU time. The kernel takes them at its tick, which may be every 4 ms.
const FREQUENCY: i32 = 997;

/// This process is being sampled, until it is dropped.
pub struct Sampling {
    guard: ProfilerGuard<'static>,
}

impl Sampling {
    /// Begins to sample this process.
    ///
    /// # Errors
    ///
    /// If it is being sampled already.
    pub fn begin() -> Result<Self, Error> {
        let guard = ProfilerGuard::new(FREQUENCY)?;
        // The first sample reads the tables of all libraries, which allocates. So it must not come while this thread allocates.
        let _ = kill_process(getpid(), Signal::PROF);
        Ok(Self { guard })
    }

    /// The samples, by stack. `edit` may rename the frames of each.
    ///
    /// pprof takes two stacks for equal that went through the same compiled functions, and has the inlined functions of one of them.
    /// These are left out.
    ///
    /// # Errors
    ///
    /// If pprof cannot read its samples.
    pub fn end(self, edit: impl Fn(&mut Frames) + 'static) -> Result<Report, Error> {
        let without_inlined = move |frames: &mut Frames| {
            for symbols in &mut frames.frames {
                symbols.drain(..symbols.len().saturating_sub(1));
            }
            edit(frames);
        };
        self.guard.report().frames_post_processor(without_inlined).build()
    }
}

impl fmt::Debug for Sampling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sampling").finish_non_exhaustive()
    }
}

/// Writes the flame graph.
pub(crate) fn write(report: &Report, path: &Path) -> Result<(), Error> {
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    report.flamegraph(File::create(path)?)
}
