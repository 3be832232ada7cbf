//! The target's own bytes, kept beside the events that they are read as until somebody takes the one or the other.

use std::collections::VecDeque;

use bytes::{Bytes, BytesMut};
use rail_wire::{BodyKind, EventEnds, ModelPaths, rename_model};

/// The bytes of an answer, in whole frames.
pub(crate) struct Raw {
    kind: BodyKind,
    paths: ModelPaths,
    ends: EventEnds,
    /// Bytes of a frame that has not come to its end.
    making: BytesMut,
    /// Whole frames that nobody has taken yet.
    frames: VecDeque<Bytes>,
    begun: bool,
}

impl Raw {
    /// Nothing yet of an answer that comes so, and that names the model there.
    pub(crate) fn new(kind: BodyKind, paths: ModelPaths) -> Self {
        let (ends, making, frames) = (EventEnds::default(), BytesMut::new(), VecDeque::new());
        Self { kind, paths, ends, making, frames, begun: false }
    }

    /// Whether frames must be told apart before they are read: an answer in one document is one frame.
    pub(crate) fn is_stream(&self) -> bool {
        match self.kind {
            BodyKind::Stream => true,
            BodyKind::Whole | BodyKind::Array => false,
        }
    }

    /// Whether the body is what was asked for, as far as its first byte shows: instead of a stream some servers send one
    /// document, and some things that are no servers a page.
    pub(crate) fn suits(&mut self, piece: &[u8]) -> bool {
        let first = piece.iter().find(|byte| !byte.is_ascii_whitespace()).filter(|_| !self.begun);
        self.begun |= first.is_some();
        !self.is_stream() || !first.is_some_and(|first| matches!(first, b'{' | b'[' | b'<'))
    }

    /// Takes the next whole frame off a piece of a stream; without one, the piece is held for later.
    pub(crate) fn cut(&mut self, piece: &mut Bytes) -> Option<Bytes> {
        let Some(end) = self.ends.next(piece) else {
            self.hold(&std::mem::take(piece));
            return None;
        };
        let rest = piece.split_to(end);
        if self.making.is_empty() {
            return Some(rest);
        }
        self.hold(&rest);
        Some(self.unended())
    }

    /// Holds bytes of a frame that has not come to its end.
    pub(crate) fn hold(&mut self, bytes: &[u8]) {
        self.making.extend_from_slice(bytes);
    }

    /// How many bytes are held of a frame that has not come to its end.
    pub(crate) fn held(&self) -> usize {
        self.making.len()
    }

    /// Gives up the frame that has not come to its end.
    pub(crate) fn unended(&mut self) -> Bytes {
        self.making.split().freeze()
    }

    /// Keeps a frame that was read.
    pub(crate) fn keep(&mut self, frame: Bytes) {
        self.frames.push_back(frame);
    }

    /// Keeps the last frame of a stream, which may lack its closing: clients read no event without it.
    pub(crate) fn keep_last(&mut self, frame: &Bytes) {
        if frame.iter().any(|byte| !byte.is_ascii_whitespace()) {
            self.keep([frame, &b"\n\n"[..]].concat().into());
        }
    }

    /// All whole frames, with this name of the model, or with the target's own; None when there are none.
    pub(crate) fn take(&mut self, model: Option<&str>) -> Option<Bytes> {
        if self.frames.len() <= 1 && model.is_none() {
            return self.frames.pop_front();
        }
        let size: usize = self.frames.iter().map(Bytes::len).sum();
        let mut out = Vec::with_capacity(size + 64);
        for frame in self.frames.drain(..) {
            match model {
                Some(model) => rename_model(&frame, self.kind, self.paths, model, &mut out),
                None => out.extend_from_slice(&frame),
            }
        }
        (!out.is_empty()).then(|| out.into())
    }
}
