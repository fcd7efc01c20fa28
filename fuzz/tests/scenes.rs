//! The scenes on random bytes: not to find much, but to see in seconds, without a sanitizer and without libFuzzer, that they
//! run. `SCENE=hostile INPUT=file cargo test replays -- --nocapture` runs one input that the fuzzer has found.

use std::sync::Once;

use clockworker_fuzz::{eevdf, hostile, quiet};

fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(quiet::install);
}

/// Random numbers, the same in each run (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn bytes(&mut self) -> Vec<u8> {
        let length = self.next() % 400;
        (0..length).map(|_| self.next() as u8).collect()
    }
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
    let mut random = Random(1);
    for _ in 0..inputs {
        let bytes = random.bytes();
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
