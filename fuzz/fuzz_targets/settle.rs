//! Any text as the arguments of a call is settled once and for all, or refused.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| rail_fuzz::arguments(input));
