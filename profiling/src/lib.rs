//! Flame graphs that a program makes of itself, by [pprof](https://docs.rs/pprof): without privileges, and without another program.
//!
//! [`FlameGraphs`] makes one of each benchmark that criterion profiles; [`Sampling`] is for any other program. Linux and macOS only.

#[cfg(any(target_os = "linux", target_os = "macos"))]
mod sampling;

use std::path::Path;

use criterion::profiler::Profiler;
#[cfg(any(target_os = "linux", target_os = "macos"))]
pub use {pprof, sampling::Sampling};

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
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    sampling: Option<Sampling>,
}

#[cfg(any(target_os = "linux", target_os = "macos"))]
impl Profiler for FlameGraphs {
    fn start_profiling(&mut self, _benchmark: &str, _folder: &Path) {
        self.sampling = Some(Sampling::begin().expect("pprof samples once at a time"));
    }

    #[allow(clippy::print_stderr, reason = "criterion does not say where a profile is")]
    fn stop_profiling(&mut self, benchmark: &str, folder: &Path) {
        let Some(sampling) = self.sampling.take() else { return };
        let path = folder.join("flamegraph.svg");
        let report = sampling.end(|_| {}).expect("pprof finds its samples");
        sampling::write(&report, &path)
            .unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
        eprintln!("{benchmark}: {}", path.display());
    }
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
impl Profiler for FlameGraphs {
    fn start_profiling(&mut self, _benchmark: &str, _folder: &Path) {
        panic!("pprof runs on Linux and macOS only; run the benchmark under samply");
    }

    fn stop_profiling(&mut self, _benchmark: &str, _folder: &Path) {}
}
