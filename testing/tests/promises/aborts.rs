//! Promise 13: an aborted task is not polled again, and its future is dropped before another task of its queue is polled.
//!
//! `clockworker_testing::aborts` has the scenes: aborts by the owner, by tasks and by other threads, in every phase of a task.

use std::collections::BTreeSet;

use clockworker_testing::aborts::{KINDS, play};
use clockworker_testing::effort::{each_seed, seed};

#[test]
fn no_poll_of_its_queue_comes_between_an_abort_and_the_drop() {
    let (mut kinds, mut aborts) = (BTreeSet::new(), 0);
    each_seed(600, 20_000, |seed| {
        let played = play(seed).unwrap();
        assert_eq!((played.dropped_elsewhere, played.left), (0, 0), "futures dropped elsewhere, and left");
        for abort in &played.aborts {
            assert_eq!(abort.polls, 0, "polls of its queue before the drop: {abort:?}");
            kinds.insert(abort.kind);
        }
        aborts += played.aborts.len();
    });
    println!("{aborts} aborts of {} kinds (phase of the task × who aborts)", kinds.len());
    assert!(kinds.len() == KINDS || seed().is_some(), "{kinds:?}");
}
