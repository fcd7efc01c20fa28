//! What `priority` finds.

use crate::support::{assert_shows, comparisons, quick};

#[test]
fn every_part_compares_latencies_with_the_foreground_alone_and_backgrounds_with_local_set() {
    let found = quick("priority");
    let shown = ["Clockworker 13:2", "two runtimes, background nice 19", "p99 ÷ alone"];
    assert_shows(&found.printed, &shown);
    let parts = comparisons(&found.json).iter().map(|found| found["part"].as_str().unwrap());
    let wanted = ["shares", "sleeping", "published_shape"];
    assert!(parts.eq(wanted), "{}", found.json);
    for comparison in comparisons(&found.json) {
        for (place, arm) in comparison["arms"].as_array().unwrap().iter().enumerate() {
            let figures = &arm["figures"];
            assert_eq!(figures["total_latency_ns.p99"]["ratio"].is_null(), place == 0, "{arm}");
            let background = &figures["background_cpu"];
            // The foreground alone, twice, has no background; LocalSet's is the base. In so short a window it may get nothing.
            assert_eq!(background.is_null(), place < 2, "{arm}");
            assert!(place > 2 || background["ratio"].is_null(), "{arm}");
        }
    }
}
