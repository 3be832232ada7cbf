//! Hostile shell commands, damaged further, are read or refused.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| rail_fuzz::shell(input));
