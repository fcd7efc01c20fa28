//! The scenes on random bytes: not to find much, but to see in seconds, without a sanitizer and without libFuzzer, that they
//! run. `SCENE=hostile INPUT=file cargo test replays -- --nocapture` runs one input that the fuzzer has found.

use std::sync::Once;

use clockworker_fuzz::{eevdf, hostile, quiet};
use clockworker_testing::random::Random;

fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(quiet::install);
}

/// Shows the input that fails.
struct Shown<'a>(&'a [u8]);

impl Drop for Shown<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            println!("fails: {:?}", self.0);
        }
    }
}

fn run(scene: impl Fn(&[u8]), inputs: u32) {
    install();
    let mut random = Random::new(1);
    for _ in 0..inputs {
        let length = random.below(400);
        let bytes = random.bytes(length);
        let _shown = Shown(&bytes);
        scene(&bytes);
    }
}

#[test]
fn hostile_scheduler() {
    run(hostile::run, 20_000);
}

#[test]
fn eevdf() {
    run(eevdf::run, 5_000);
}

#[test]
fn replays() {
    let (Ok(scene), Ok(input)) = (std::env::var("SCENE"), std::env::var("INPUT")) else { return };
    install();
    let bytes = std::fs::read(input).expect("the input");
    match &*scene {
        "eevdf" => eevdf::run(&bytes),
        _ => hostile::run(&bytes),
    }
}
