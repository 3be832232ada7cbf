//! The elements of a JSON array are the same, however the bytes were cut.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rail_fuzz::frames_alike;
use rail_wire::JsonArray;

fuzz_target!(|input: &[u8]| frames_alike(JsonArray::new, input));
