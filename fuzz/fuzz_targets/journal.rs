//! Any bytes as a journal are read, or refused with what is wrong.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| rail_fuzz::journal(input));
