//! What the targets share.

mod codec;
mod config;
mod journal;
mod patch;
mod pdf;
mod repair;
mod shell;
mod web;

pub use codec::codec;
pub use config::config;
pub use journal::journal;
pub use patch::patch;
pub use pdf::pdf;
pub use repair::{arguments, extract, native, tolerant_json};
pub use shell::shell;
pub use web::web;

use rail_wire::{Frame, Framer};

/// Cuts a body into pieces as the first byte of `input` says; the rest is the body.
///
/// The low seven bits are the length of a piece, the high bit puts an empty read after each. `None` for no input.
pub fn split(input: &[u8]) -> Option<(Vec<&[u8]>, &[u8])> {
    let (&how, body) = input.split_first()?;
    let pieces = body.chunks(1 + usize::from(how & 0x7f));
    let pieces =
        if how & 0x80 == 0 { pieces.collect() } else { pieces.flat_map(|piece| [piece, &[]]).collect() };
    Some((pieces, body))
}

/// Panics if a framer finds other frames in the pieces of a body than in the whole.
pub fn frames_alike<F: Framer>(new: fn() -> F, input: &[u8]) {
    if let Some((pieces, body)) = split(input) {
        assert_eq!(frames(new(), &pieces), frames(new(), &[body]), "left: in pieces, right: whole");
    }
}

fn frames(mut framer: impl Framer, pieces: &[&[u8]]) -> Vec<(String, String)> {
    let mut frames = Vec::new();
    let mut sink = |frame: Frame<'_>| {
        frames.push((frame.event.to_owned(), frame.data.escape_ascii().to_string()));
        Ok(())
    };
    for piece in pieces {
        framer.push(piece, &mut sink).expect("no body of this size is refused");
    }
    framer.finish(&mut sink).expect("no body of this size is refused");
    frames
}
