//! What wakes cost. Alone in its file, as it counts what the whole process allocates.

use clap::Parser;
use clockworker_reliability::Arguments;
use clockworker_reliability::figure::{self, Figure};
use clockworker_testing::memory::{COUNTING, Counting};

#[global_allocator]
static ALLOCATOR: Counting = COUNTING;

#[test]
fn wakes_allocate_nothing_and_run_no_task() {
    let figures =
        Arguments::parse_from(["clockworker-reliability", "wake-cost", "--quick"]).measure().unwrap();
    assert!(figures.iter().all(Figure::is_kept), "\n{}", figure::table(&figures));
}
