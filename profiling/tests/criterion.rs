//! A benchmark that criterion profiles.

#![allow(missing_docs, reason = "tests")]

use std::fs;
use std::hint::black_box;
use std::time::Duration;

use clockworker_profiling::FlameGraphs;
use criterion::Criterion;

#[inline(never)]
fn work_of_the_benchmark() -> Vec<u64> {
    (0..black_box(10_000)).collect()
}

#[test]
fn it_has_a_flame_graph_with_the_function_that_ran() {
    let folder = tempfile::tempdir().unwrap();
    let mut criterion = Criterion::default()
        .output_directory(folder.path())
        .with_profiler(FlameGraphs::default())
        .profile_time(Some(Duration::from_secs(2)));
    for name in ["first", "second"] {
        criterion.bench_function(name, |bencher| bencher.iter(work_of_the_benchmark));
        let svg = fs::read_to_string(folder.path().join(name).join("profile/flamegraph.svg")).unwrap();
        assert!(svg.contains("work_of_the_benchmark"), "{name}");
    }
}
