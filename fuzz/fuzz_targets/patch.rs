//! Any text as a patch of any other is applied or refused.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| rail_fuzz::patch(input));
