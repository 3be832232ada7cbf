//! Any bytes as a page, and as an engine's answer, are read within bounds.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| rail_fuzz::web(input));
