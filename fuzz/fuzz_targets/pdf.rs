//! Any bytes as a PDF are read and drawn, or refused.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| rail_fuzz::pdf(input));
