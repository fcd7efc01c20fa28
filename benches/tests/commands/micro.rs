//! What `micro` finds.

use crate::support::{assert_shows, comparisons, quick};

#[test]
fn every_part_has_its_table() {
    let found = quick("micro");
    let headings = [
        "spawn, join",
        "spawn, 5 yields, join",
        "1,000 tasks",
        "tokio's yield_now",
        "in one queue",
        "between two queues",
        "host busy, until the poll: p50",
        "host parked, until the poll: p99",
        "for the waker",
        "parked, beyond its future",
    ];
    assert_shows(&found.printed, &headings);
    assert_shows(&found.markdown, &headings);
    let part = |part: &str| comparisons(&found.json).iter().find(|one| one["part"] == part).unwrap().clone();
    let titles = |comparison: &serde_json::Value| {
        let arms = comparison["arms"].as_array().unwrap();
        arms.iter().map(|arm| arm["title"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert!(titles(&part("poll")).contains(&"loop over boxed futures".to_owned()));
    assert!(!titles(&part("hop")).contains(&"loop over boxed futures".to_owned()), "it polls without wakes");
}
