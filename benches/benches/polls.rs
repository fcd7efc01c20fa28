//! Polls and spawns beside LocalSet's, for development: `cargo bench -p clockworker-benches`.
//!
//! Criterion measures the arms one after the other, so that a drifting machine shows up as a difference
//! between them. What is to be quoted comes from `clockworker-benches compare`.

use std::time::Duration;

use clockworker_benches::measurements::compare::ARMS;
use clockworker_benches::measurements::overhead::tasks::SpawnAndJoin;
use clockworker_benches::workload::shape::Shape;
use criterion::{BenchmarkId, Criterion, Throughput};

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    measure(&mut criterion, "self-waking polls", Shape::new(1_000, 1_000));
    measure(&mut criterion, "spawn and join", Shape::new(10_000, 0));
    criterion.final_summary();
}

fn measure(criterion: &mut Criterion, name: &str, shape: Shape) {
    let mut group = criterion.benchmark_group(name);
    group.sample_size(20);
    group.throughput(Throughput::Elements(shape.polls()));
    for (key, arm) in ARMS {
        group.bench_function(BenchmarkId::new(key, shape), |bencher| {
            let sample = |_| Duration::from_nanos(arm.run(&SpawnAndJoin(shape))[0] as u64);
            bencher.iter_custom(|samples| (0..samples).map(sample).sum());
        });
    }
    group.finish();
}
