//! The scene of `eevdf` on random bytes: not to find much, but to see in seconds, without a sanitizer and without libFuzzer,
//! that it runs. (Those of the other targets are in `testing/tests`.) And an input that the fuzzer has found, once more:
//! `SCENE=hostile INPUT=file cargo test replays -- --nocapture`.

use clockworker_fuzz::eevdf;
use clockworker_testing::random::Random;
use clockworker_testing::{hostile_program, quiet};

#[test]
fn eevdf() {
    let mut random = Random::new(1);
    for input in 0..5_000 {
        let length = random.below(400);
        let bytes = random.bytes(length);
        let run = std::panic::catch_unwind(|| eevdf::run(&bytes));
        assert!(run.is_ok(), "input {input} of seed 1: {bytes:?}");
    }
}

#[test]
fn replays() {
    let (Ok(scene), Ok(input)) = (std::env::var("SCENE"), std::env::var("INPUT")) else { return };
    quiet::install();
    let bytes = std::fs::read(input).expect("the input");
    match &*scene {
        "eevdf" => eevdf::run(&bytes),
        _ => hostile_program::run(&bytes),
    }
    assert_eq!(quiet::unmeant(), 0, "panics that were not meant, some of them caught");
}
