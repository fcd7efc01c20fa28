//! Every call of `Eevdf` in any order, with numbers of any size.

#![no_main]

#[path = "../../tests/fuzz/eevdf.rs"]
mod eevdf;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| eevdf::run(data));
