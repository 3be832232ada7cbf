//! Any text as a value in arguments is read or refused, and JSON is left as it is.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| rail_fuzz::tolerant_json(input));
