//! Random programs on a queue whose scheduler is hostile. The fuzz target `hostile_scheduler` runs the same, on bytes that it
//! searches for.

use clockworker_testing::random::Random;
use clockworker_testing::{hostile_program, quiet};

#[test]
fn every_promise_holds_beside_a_hostile_scheduler() {
    quiet::install();
    let mut random = Random::new(1);
    for input in 0..8_000 {
        let length = random.below(400);
        let bytes = random.bytes(length);
        let run = std::panic::catch_unwind(|| hostile_program::run(&bytes));
        // The executor catches a panic of a task or of a scheduler; the hook has seen it all the same.
        assert!(run.is_ok() && quiet::unmeant() == 0, "input {input} of seed 1: {bytes:?}");
    }
}
