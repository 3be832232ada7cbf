//! Any deltas of a stream become calls in a legal order.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| rail_fuzz::native(input));
