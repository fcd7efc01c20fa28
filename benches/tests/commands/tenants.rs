//! What `tenants` finds.

use crate::support::{assert_shows, comparisons, quick};

#[test]
fn every_part_has_a_table_and_every_arm_serves_quiet_tenants() {
    let found = quick("tenants");
    let headings =
        ["Ten quiet tenants beside one of 1000 busy tasks", "a half is due", "side by side", "shares 99:1"];
    assert_shows(&found.printed, &headings);
    assert_shows(&found.markdown, &headings);
    let flood = &comparisons(&found.json)[0];
    for arm in flood["arms"].as_array().unwrap() {
        let p99 = |key: &str| arm["figures"][key]["value"].as_f64().unwrap();
        assert!(p99("alone_ns.p99") > 0.0 && p99("p99_by_alone") > 0.0, "{arm}");
    }
}
