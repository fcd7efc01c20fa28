//! Flame graphs that a program makes of itself, by [pprof](https://docs.rs/pprof): without privileges, and without another program.
//!
//! [`FlameGraphs`] makes one of each benchmark that criterion profiles; [`Sampling`] is for any other program. Linux and macOS only.

use std::fmt;
use std::fs::{self, File};
use std::path::Path;

use criterion::profiler::Profiler;
pub use pprof;
use pprof::{Error, Frames, ProfilerGuard, Report};
use rustix::process::{Signal, getpid, kill_process};

/// Samples per second of CPU time. The kernel takes them at its tick, which may be every 4 ms.
const FREQUENCY: i32 = 997;

/// This process is being sampled, until it is dropped.
pub struct Sampling(ProfilerGuard<'static>);

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
        Ok(Self(guard))
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
        self.0.report().frames_post_processor(without_inlined).build()
    }
}

impl fmt::Debug for Sampling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sampling").finish_non_exhaustive()
    }
}

/// Makes a flame graph of each benchmark that `cargo bench … -- --profile-time SECONDS` runs.
///
/// ```no_run
/// use clockworker_profiling::FlameGraphs;
/// use criterion::Criterion;
///
/// let mut criterion = Criterion::default().with_profiler(FlameGraphs::default()).configure_from_args();
/// criterion.bench_function("sum", |bencher| bencher.iter(|| (0..1_000_u64).sum::<u64>()));
/// ```
///
/// It is `profile/flamegraph.svg` in the benchmark's folder below `target/criterion`.
#[derive(Debug, Default)]
pub struct FlameGraphs {
    sampling: Option<Sampling>,
}

impl Profiler for FlameGraphs {
    fn start_profiling(&mut self, _benchmark: &str, _folder: &Path) {
        self.sampling = Some(Sampling::begin().expect("pprof samples once at a time"));
    }

    #[allow(clippy::print_stderr, reason = "criterion does not say where a profile is")]
    fn stop_profiling(&mut self, benchmark: &str, folder: &Path) {
        let Some(sampling) = self.sampling.take() else { return };
        let report = sampling.end(|_| {}).expect("pprof finds its samples");
        let path = folder.join("flamegraph.svg");
        fs::create_dir_all(folder).expect("the folder can be made");
        let file = File::create(&path).expect("the file can be made");
        report.flamegraph(file).expect("the flame graph can be written");
        eprintln!("{benchmark}: {}", path.display());
    }
}
