//! Spawns, polls, wakes and hops beside LocalSet's, for development: `cargo bench -p clockworker-benches`.
//!
//! The bodies are those of the command `micro`. Criterion measures the arms one after the other, so that a drifting machine
//! shows up as a difference between them. What is to be quoted comes from `micro`.

use std::time::Duration;

use clockworker_benches::arms::{Arm, Job};
use clockworker_benches::measurements::micro::tasks::SpawnAndJoin;
use clockworker_benches::measurements::micro::wakes::{FanOut, NotifyHops};
use clockworker_profiling::FlameGraphs;
use criterion::{Criterion, Throughput};

const ARMS: &[(&str, Arm)] = &[
    ("localset", Arm::LocalSet),
    ("clockworker", Arm::Clockworker),
    #[cfg(all(feature = "rivals", target_os = "linux"))]
    ("monoio", Arm::Monoio),
];

const SAMPLES: usize = 20;

fn main() {
    let criterion = Criterion::default().sample_size(SAMPLES).with_profiler(FlameGraphs::default());
    let mut criterion = criterion.configure_from_args();
    measure(&mut criterion, "spawn", 10_000, &SpawnAndJoin { tasks: 10_000, yields: 0 });
    // A spawn and a join are a thousandth of each task's polls.
    measure(&mut criterion, "poll", 1_000_000, &SpawnAndJoin { tasks: 1_000, yields: 1_000 });
    measure(&mut criterion, "wake", 100_000, &FanOut { waiters: 1_000, rounds: 100 });
    measure(&mut criterion, "hop", 10_000, &NotifyHops { hops: 10_000, lanes: [0, 0] });
    criterion.final_summary();
}

/// Measures a job of so many of what the group is named by.
fn measure(criterion: &mut Criterion, group: &str, number: u64, job: &impl Job<Found = Duration>) {
    let mut group = criterion.benchmark_group(group);
    group.throughput(Throughput::Elements(number));
    for &(name, arm) in ARMS {
        group.bench_function(name, |bencher| {
            bencher.iter_custom(|samples| (0..samples).map(|_| arm.run(job)).sum());
        });
    }
    group.finish();
}
