//! Random programs on Clockworker and on the reference executor of the crate `testing`, compared step by step.

#![no_main]

use clockworker_testing::programs::{Kind, play};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| drop(play(Kind::Compared, data)));
