//! Bytes of an answer that are passed on are the same, however they came cut, and nothing but the model's name is replaced.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rail_fuzz::split;
use rail_wire::{BodyKind, EventEnds, ModelPaths, rename_model};

fuzz_target!(|input: &[u8]| {
    let Some((pieces, body)) = split(input) else { return };
    assert_eq!(passed_on(&pieces), passed_on(&[body]), "left: in pieces, right: whole");
    for kind in [BodyKind::Whole, BodyKind::Stream, BodyKind::Array] {
        let mut out = Vec::new();
        rename_model(body, kind, &[], "", &mut out);
        assert_eq!(out, body);
    }
});

const PATHS: ModelPaths = &[&["model"], &["message", "model"]];

fn passed_on(pieces: &[&[u8]]) -> String {
    let (mut ends, mut making, mut out) = (EventEnds::default(), Vec::new(), Vec::new());
    for mut piece in pieces.iter().copied() {
        while let Some((frame, rest)) = ends.next(piece).and_then(|end| piece.split_at_checked(end)) {
            making.extend_from_slice(frame);
            rename_model(&std::mem::take(&mut making), BodyKind::Stream, PATHS, "asked", &mut out);
            piece = rest;
        }
        making.extend_from_slice(piece);
    }
    out.extend_from_slice(&making);
    out.escape_ascii().to_string()
}
