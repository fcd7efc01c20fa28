//! A scheduler that breaks its contract in every way, in an executor that does everything else.

#![no_main]

use clockworker_testing::programs::{Kind, play};
use clockworker_testing::quiet;
use libfuzzer_sys::fuzz_target;

fuzz_target!(init: quiet::install(), |data: &[u8]| drop(play(Kind::Hostile, data)));
