//! What a scripted model does with one request.

use rail_model::{
    ApiError, CallId, CallKind, Media, MediaKind, MediaSource, Part, PartBody, Seal, Stop, ToolCall, Usage,
};
use serde_json::Value;

/// One answer of a scripted model.
#[derive(Clone, Debug)]
pub struct Turn {
    pub(super) act: Act,
    pub(super) stop: Option<Stop>,
    pub(super) usage: Usage,
    pub(super) pings: usize,
    pub(super) before: Option<&'static str>,
    pub(super) reached: Option<&'static str>,
    pub(super) before_end: Option<&'static str>,
    repeat: bool,
}

/// What is sent.
#[derive(Clone, Debug)]
pub(super) enum Act {
    /// Parts, and how the answer ends after them.
    Say(Vec<Part>, Ending),
    /// The last text of the user.
    Echo,
    /// An error instead of an answer.
    Error(ApiError),
    /// These bytes, head and all, and then the end of the connection.
    Raw(Vec<u8>),
}

/// How an answer ends.
#[derive(Clone, Debug)]
pub(super) enum Ending {
    /// As it should.
    Good,
    /// With an error in mid-stream.
    Breaks(ApiError),
    /// The connection closes in mid-stream.
    Cut,
    /// The body ends as HTTP wants it, but without the protocol's end marker.
    Markerless,
    /// It does not: nothing more comes until the client leaves.
    Stalls,
}

impl Turn {
    /// A whole answer. It stops for its calls if it has any, else because it is done.
    pub fn reply(parts: Vec<Part>) -> Turn {
        Turn::new(Act::Say(parts, Ending::Good))
    }

    /// Answers with the last text of the user.
    pub fn echo() -> Turn {
        Turn::new(Act::Echo)
    }

    /// An error, with its status, before anything is sent.
    pub fn error(error: ApiError) -> Turn {
        Turn::new(Act::Error(error))
    }

    /// An answer that fails in mid-stream, after these parts. A client that asked for no stream gets the error alone.
    pub fn breaks(parts: Vec<Part>, error: ApiError) -> Turn {
        Turn::new(Act::Say(parts, Ending::Breaks(error)))
    }

    /// An answer whose connection closes after these parts, the last of which stays open: no end of the body, no end marker.
    pub fn cut(parts: Vec<Part>) -> Turn {
        Turn::new(Act::Say(parts, Ending::Cut))
    }

    /// An answer whose body ends after these parts as HTTP wants it, but without the protocol's end marker.
    pub fn markerless(parts: Vec<Part>) -> Turn {
        Turn::new(Act::Say(parts, Ending::Markerless))
    }

    /// An answer that sends nothing more after these parts, until the client leaves; without parts not even a head.
    pub fn stall(parts: Vec<Part>) -> Turn {
        Turn::new(Act::Say(parts, Ending::Stalls))
    }

    /// These bytes, head and all, and then the end of the connection.
    pub fn raw(bytes: impl Into<Vec<u8>>) -> Turn {
        Turn::new(Act::Raw(bytes.into()))
    }

    /// The tokens it says it used, instead of 10 in and 5 out.
    pub fn usage(self, usage: Usage) -> Turn {
        Turn { usage, ..self }
    }

    /// Why it stops.
    pub fn stop(self, stop: Stop) -> Turn {
        Turn { stop: Some(stop), ..self }
    }

    /// Sends this many of the protocol's signs of life right after the start of the answer, if it is a stream.
    pub fn pings(self, pings: usize) -> Turn {
        Turn { pings, ..self }
    }

    /// Sends nothing until the test opens the gate of this name.
    pub fn gate(self, gate: &'static str) -> Turn {
        Turn { before: Some(gate), ..self }
    }

    /// Ends only when the test opens the gate of this name; all but the end of the last part is sent before.
    pub fn gate_before_end(self, gate: &'static str) -> Turn {
        Turn { before_end: Some(gate), ..self }
    }

    /// Tells the test that the parts were sent; for a turn that waits, stalls or goes on.
    pub fn reached(self, mark: &'static str) -> Turn {
        Turn { reached: Some(mark), ..self }
    }

    /// Answers every further request like this too; only the last turn of a script may.
    pub fn repeat(self) -> Turn {
        Turn { repeat: true, ..self }
    }

    pub(super) fn repeats(&self) -> bool {
        self.repeat
    }

    pub(super) fn gates(&self) -> impl Iterator<Item = &'static str> {
        self.before.into_iter().chain(self.before_end)
    }

    pub(super) fn marks(&self) -> impl Iterator<Item = &'static str> {
        self.reached.into_iter()
    }

    fn new(act: Act) -> Turn {
        let usage = Usage { input: Some(10), output: Some(5), ..Usage::default() };
        let (stop, before, reached, before_end) = (None, None, None, None);
        Turn { act, stop, usage, pings: 0, before, reached, before_end, repeat: false }
    }
}

/// A text.
pub fn text(text: impl Into<String>) -> Part {
    Part::text(text)
}

/// Visible reasoning, with a signature of the protocol that it will be said in.
pub fn thinking(text: impl Into<String>, signature: Option<&str>) -> Part {
    Part { seal: signature.map(own_seal), ..Part::new(PartBody::Thinking(text.into())) }
}

/// Reasoning that is shown to nobody, of the protocol that it will be said in.
pub fn redacted(data: &str) -> Part {
    Part::new(PartBody::Redacted(own_seal(data)))
}

/// A call of a function. Its id is made when it is said: unique, and the same for the same script.
pub fn call(name: impl Into<String>, arguments: Value) -> Part {
    let id = CallId::Given(String::new());
    let (name, arguments) = (name.into(), arguments.to_string());
    Part::new(PartBody::ToolCall(ToolCall { id, name, arguments, kind: CallKind::Function }))
}

/// An image, inline, in standard base64.
pub fn image(mime: &str, base64: impl Into<String>) -> Part {
    let source = MediaSource::Base64(base64.into());
    let mime = Some(mime.to_owned());
    Part::new(PartBody::Media(Media { kind: MediaKind::Image, mime, source, name: None }))
}

/// The issuer is filled in when it is said.
fn own_seal(data: &str) -> Seal {
    Seal { issuer: String::new(), data: data.to_owned() }
}
