//! A scheduler that breaks its contract in every way, in an executor that does everything else.

#![no_main]

use clockworker_testing::panics;
use clockworker_testing::programs::{Kind, play};
use libfuzzer_sys::fuzz_target;

fuzz_target!(init: panics::install(), |data: &[u8]| drop(play(Kind::Hostile, data)));
