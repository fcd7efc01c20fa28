//! What the targets of `testing/fuzz` run, without a fuzzer: the inputs that were kept, and random ones.
//!
//! An input that fails is written to `testing/fuzz/inputs/TARGET` by `testing/fuzz/run`, and so is tried here.

mod eevdf;

use std::fs;
use std::panic::catch_unwind;
use std::path::Path;

use clockworker_testing::effort::each_seed;
use clockworker_testing::panics;
use clockworker_testing::programs::{Kind, play};
use fastrand::Rng;

type Target = fn(&[u8]);

const TARGETS: [(&str, Target); 3] = [
    ("eevdf", eevdf::run),
    ("hostile_scheduler", |bytes| drop(play(Kind::Hostile, bytes))),
    ("ops", |bytes| drop(play(Kind::Compared, bytes))),
];

#[test]
fn inputs_that_were_kept_break_no_promise() {
    panics::install();
    for (name, target) in TARGETS {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/inputs").join(name);
        // There may be none.
        for input in fs::read_dir(folder).into_iter().flatten() {
            let path = input.unwrap().path();
            let bytes = fs::read(&path).unwrap();
            let run = catch_unwind(|| target(&bytes));
            assert!(run.is_ok() && panics::unmeant() == 0, "{}", path.display());
        }
    }
}

#[test]
fn random_calls_of_eevdf_agree_with_the_model() {
    each_seed(5_000, 500_000, |seed| {
        let mut rng = Rng::with_seed(seed);
        let bytes: Vec<u8> = (0..rng.usize(..400)).map(|_| rng.u8(..)).collect();
        eevdf::run(&bytes);
    });
}
