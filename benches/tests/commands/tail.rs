//! What `tail` finds.

use crate::support::{assert_shows, comparisons, quick};

#[test]
fn every_order_is_measured_and_simulated_and_every_load_is_found() {
    let found = quick("tail");
    let shown = [
        "Pareto, α = 1.1",
        "mean ÷ simulator's",
        "of large: p99",
        "50:1, 50:100 at 25 µs",
        "Highest load in percent",
        "Clockworker, FairGroups",
    ];
    assert_shows(&found.printed, &shown);
    let value = |arm: &serde_json::Value, figure: &str| arm["figures"][figure]["value"].as_f64();
    for comparison in comparisons(&found.json) {
        for arm in comparison["arms"].as_array().unwrap() {
            if comparison["part"] == "order" {
                // Debug builds have overheads that a round's simulation is given, too.
                let ratio = value(arm, "mean_by_simulated").unwrap();
                assert!((0.5..2.0).contains(&ratio), "{comparison}");
                assert!(value(arm, "slowdown.p99").unwrap() >= 1.0, "{arm}");
            } else {
                assert!((0.0..100.0).contains(&value(arm, "load").unwrap()), "{arm}");
            }
        }
    }
}
