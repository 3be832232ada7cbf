//! Any text as a configuration is one, or is told wrong at its place.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| rail_fuzz::config(input));
