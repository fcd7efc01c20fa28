//! Random programs on Clockworker and on the reference executor of the crate `testing`, compared step by step.

#![no_main]

use clockworker_testing::programs::{Program, check};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let program = Program::from_bytes(data);
    if let Err(difference) = check(&program) {
        panic!("{difference}\nin the program\n{program}");
    }
});
