//! What the answers of all protocols have in common when they are written.

use std::marker::PhantomData;

use rail_model::{ApiError, Assembler, ErrorKind, Event, Loss, ProtocolId, Reply};
use serde::Serialize;

use crate::order::InOrder;
use crate::protocol::{Encode, ReplyTo};
use crate::told::Told;

/// How a protocol writes a whole answer once its pieces are together.
pub(crate) trait WholeAnswer: Send {
    /// Whose answers.
    const ID: ProtocolId;
    /// A good answer.
    fn write(reply: Reply, reply_to: &ReplyTo, told: &mut Told) -> Vec<u8>;
    /// A failure.
    fn fail(error: &ApiError) -> Vec<u8>;
}

/// Puts the pieces of an answer together and writes it at the end.
pub(crate) struct WholeOut<W> {
    reply_to: ReplyTo,
    assembler: Assembler,
    told: Told,
    writer: PhantomData<fn() -> W>,
}

impl<W: WholeAnswer> WholeOut<W> {
    pub(crate) fn new(reply_to: &ReplyTo) -> Self {
        let (reply_to, assembler, told) = (reply_to.clone(), Assembler::default(), Told::default());
        Self { reply_to, assembler, told, writer: PhantomData }
    }
}

impl<W: WholeAnswer> Encode for WholeOut<W> {
    fn push(&mut self, event: &Event, _: &mut Vec<u8>) {
        self.assembler.push(event.clone());
    }

    fn finish(&mut self, out: &mut Vec<u8>) {
        for opaque in self.assembler.noise().iter().filter(|opaque| opaque.origin != W::ID) {
            self.told.once(format!("event.{}", opaque.origin), "an event of another protocol; left out");
        }
        out.extend(match std::mem::take(&mut self.assembler).finish() {
            Some(Ok(reply)) => W::write(reply, &self.reply_to, &mut self.told),
            Some(Err(error)) => W::fail(&error),
            None => W::fail(&unfinished()),
        });
    }

    fn losses(&mut self) -> Vec<Loss> {
        self.told.take()
    }
}

/// How a protocol in which a part must end before the next begins writes a stream.
pub(crate) trait SerialAnswer: Send {
    /// Takes the next event, parts in order.
    fn event(&mut self, event: &Event, out: &mut Vec<u8>);
    /// True once an end was written; nothing may follow it.
    fn ended(&self) -> bool;
    /// What could not be said.
    fn told(&mut self) -> &mut Told;
}

/// Brings parts into order and hands them to a writer; an answer that never ended ends as a failure.
pub(crate) struct SerialOut<W> {
    order: InOrder,
    writer: W,
}

impl<W: SerialAnswer> SerialOut<W> {
    pub(crate) fn new(writer: W) -> Self {
        Self { order: InOrder::default(), writer }
    }
}

impl<W: SerialAnswer> Encode for SerialOut<W> {
    fn push(&mut self, event: &Event, out: &mut Vec<u8>) {
        let Self { order, writer } = self;
        order.push(event, &mut |event| writer.event(event, out));
    }

    fn finish(&mut self, out: &mut Vec<u8>) {
        if !self.writer.ended() {
            self.writer.event(&Event::Failed(unfinished()), out);
        }
    }

    fn losses(&mut self) -> Vec<Loss> {
        self.writer.told().take()
    }
}

/// What a client is told when the upstream just stopped.
pub(crate) fn unfinished() -> ApiError {
    ApiError::new(ErrorKind::Server, "the upstream's answer ended without its end marker")
}

/// Writes one named server-sent event.
pub(crate) fn sse(event: &str, data: &impl Serialize, out: &mut Vec<u8>) {
    out.extend_from_slice(b"event: ");
    out.extend_from_slice(event.as_bytes());
    out.push(b'\n');
    sse_data(data, out);
    out.extend_from_slice(b"\n\n");
}

/// Writes the data line of a server-sent event, without what ends the event.
pub(crate) fn sse_data(data: &impl Serialize, out: &mut Vec<u8>) {
    out.extend_from_slice(b"data: ");
    // Writing JSON to memory can't fail for these shapes; if it did, a half-written frame must not go out.
    let before = out.len();
    if serde_json::to_writer(&mut *out, data).is_err() {
        out.truncate(before);
        out.extend_from_slice(b"{}");
    }
}
