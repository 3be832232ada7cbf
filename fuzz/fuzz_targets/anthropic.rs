//! Any bytes as a request, an answer, a stream or an error of this protocol.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| rail_fuzz::codec(&rail_wire::anthropic::PROTOCOL, input));
