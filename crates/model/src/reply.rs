use crate::{Delta, Event, Extras, Part, PartBody, PartKind, Stop, ToolCall, Usage};

/// A whole answer.
#[derive(Clone, PartialEq, Debug)]
pub struct Reply {
    /// The answer's id, if given.
    pub id: Option<String>,
    /// The model that answered, if told.
    pub model: Option<String>,
    /// What was said, in order.
    pub parts: Vec<Part>,
    /// Why the model stopped.
    pub stop: Stop,
    /// The tokens used, if told.
    pub usage: Option<Usage>,
    /// What the origin said besides at the beginning (of the answer as a whole).
    pub extras: Extras,
    /// What the origin said besides about the end.
    pub end: Extras,
}

impl Reply {
    /// The same answer as events, so that whole and streamed answers take one path.
    pub fn into_events(self) -> Vec<Event> {
        let mut out = Vec::with_capacity(self.parts.len() * 3 + 3);
        out.push(Event::Started { id: self.id, model: self.model, extras: self.extras });
        for (at, part) in self.parts.into_iter().enumerate() {
            part_events(at, part, &mut out);
        }
        out.extend(self.usage.map(Event::Usage));
        out.push(Event::Finished { stop: self.stop, extras: self.end });
        out
    }
}

fn part_events(at: usize, part: Part, out: &mut Vec<Event>) {
    let Part { body, seal, cache: _, logprobs, extras } = part;
    let (kind, delta) = match body {
        PartBody::Text(text) => (PartKind::Text, Some(Delta::Text(text))),
        PartBody::Refusal(text) => (PartKind::Refusal, Some(Delta::Text(text))),
        PartBody::Thinking(text) => (PartKind::Thinking, Some(Delta::Thinking(text))),
        PartBody::Redacted(seal) => (PartKind::Redacted(seal), None),
        PartBody::ToolCall(ToolCall { id, name, arguments, kind }) => {
            (PartKind::ToolCall { id, name, kind }, Some(Delta::Arguments(arguments)))
        }
        // A model does not answer with results; a block of its own server's tools is opaque.
        PartBody::ToolResult(_) => return,
        PartBody::Media(media) => (PartKind::Media(media), None),
        PartBody::Opaque(opaque) => (PartKind::Opaque(opaque), None),
    };
    // A call's seal comes before its arguments: some clients can only be given it inside the call's id.
    let (first, last) = if matches!(kind, PartKind::ToolCall { .. }) { (seal, None) } else { (None, seal) };
    out.push(Event::Opened { at, kind, extras });
    let deltas = first.map(Delta::Seal).into_iter().chain(delta.filter(Delta::says_something));
    let deltas = deltas.chain((!logprobs.is_empty()).then_some(Delta::Logprobs(logprobs)));
    let deltas = deltas.chain(last.map(Delta::Seal));
    out.extend(deltas.map(|delta| Event::Delta { at, delta, extras: Extras::NONE }));
    out.push(Event::Closed { at, extras: Extras::NONE });
}

impl Delta {
    /// False for an empty piece of text, which nobody needs to see.
    pub fn says_something(&self) -> bool {
        match self {
            Self::Text(text) | Self::Thinking(text) | Self::Arguments(text) => !text.is_empty(),
            Self::Seal(_) | Self::Logprobs(_) | Self::Extra { .. } => true,
        }
    }
}
