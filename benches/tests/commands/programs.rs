//! What `programs` finds.

use crate::support::{assert_shows, quick};

#[test]
fn each_program_has_a_row_for_each_quantity() {
    let found = quick("programs");
    let rows = [
        "a mutex held across a yield: time",
        "key-value server with a slow command: p99",
        "idle connections: memory each",
    ];
    assert_shows(&found.printed, &rows);
    assert_shows(&found.markdown, &rows);
}
