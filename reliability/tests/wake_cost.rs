//! What wakes cost. Alone in its file, as it counts what the whole process allocates.

use clockworker_reliability::figure::{self, Figure};
use clockworker_reliability::wake_cost;
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<std::alloc::System> = &INSTRUMENTED_SYSTEM;

#[test]
fn wakes_allocate_nothing_and_run_no_task() {
    let figures = wake_cost::measure(&wake_cost::Options::quick()).unwrap();
    assert!(figures.iter().all(Figure::is_kept), "\n{}", figure::table(&figures));
}
