//! What a turn of a busy executor costs on monoio, plain and `with_timers`: `cargo bench -p clockworker-benches --bench
//! monoio` (Linux).
//!
//! The turns are of one poll, so that they cost little themselves; both drivers of monoio are measured, io_uring where the
//! kernel has it for us. What `with_timers` adds to a turn is the difference.

use criterion::Criterion;

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    #[cfg(target_os = "linux")]
    linux::measure(&mut criterion);
    criterion.final_summary();
}

#[cfg(target_os = "linux")]
mod linux {
    use std::future::Future;
    use std::time::{Duration, Instant};

    use clockworker::{Executor, yield_now};
    use criterion::Criterion;
    use monoio::time::TimeDriver;
    use monoio::{Driver, IoUringDriver, LegacyDriver, Runtime, RuntimeBuilder};

    pub(super) fn measure(criterion: &mut Criterion) {
        let mut legacy =
            RuntimeBuilder::<LegacyDriver>::new().enable_timer().build().expect("a legacy driver");
        measure_driver(criterion, "legacy", &mut legacy);
        if monoio::utils::detect_uring() {
            let mut io_uring =
                RuntimeBuilder::<IoUringDriver>::new().enable_timer().build().expect("io_uring");
            measure_driver(criterion, "io_uring", &mut io_uring);
        }
    }

    fn measure_driver<D>(criterion: &mut Criterion, name: &str, rt: &mut Runtime<TimeDriver<D>>)
    where
        D: Driver,
    {
        let mut group = criterion.benchmark_group(format!("a turn on monoio, {name}"));
        group.bench_function("run_until", |bencher| {
            bencher.iter_custom(|turns| {
                timed(rt, run_turns(&Executor::builder().poll_cap(1).build().unwrap(), turns))
            });
        });
        group.bench_function("with_timers", |bencher| {
            bencher.iter_custom(|turns| {
                let ex = Executor::builder().poll_cap(1).build().unwrap();
                timed(rt, async { clockworker::monoio::with_timers(run_turns(&ex, turns)).await.unwrap() })
            });
        });
        group.finish();
    }

    #[allow(clippy::disallowed_methods, reason = "this measures")]
    fn timed<D: Driver>(rt: &mut Runtime<D>, turns: impl Future<Output = ()>) -> Duration {
        let start = Instant::now();
        rt.block_on(turns);
        start.elapsed()
    }

    async fn run_turns(ex: &Executor, turns: u64) {
        let task = ex.spawn(async move {
            for _ in 1..turns {
                yield_now().await;
            }
        });
        ex.run_until(task).await.unwrap();
    }
}
