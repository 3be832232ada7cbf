//! Server-sent events are the same, however the bytes were cut.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rail_fuzz::frames_alike;
use rail_wire::Sse;

fuzz_target!(|input: &[u8]| frames_alike(Sse::new, input));
