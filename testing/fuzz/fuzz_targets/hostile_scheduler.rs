//! A scheduler that breaks its contract in every way, beside an honest one, in an executor that is busy.

#![no_main]

use clockworker_testing::{hostile_program, quiet};
use libfuzzer_sys::fuzz_target;

fuzz_target!(init: quiet::install(), |data: &[u8]| hostile_program::run(data));
