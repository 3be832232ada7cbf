//! Any text becomes the same text, reasoning and calls, however it was cut.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| rail_fuzz::extract(input));
