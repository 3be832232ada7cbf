//! A streamed answer, as clients of the API expect it.

use std::collections::BTreeMap;

use rail_model::{CallKind, Delta, Event, Extras, Map, Part, PartKind, Seal, Stop, Usage};
use serde::Serialize;
use serde_json::Value;

use super::types::{Answer, Block};
use super::{DELTA, DELTAS, FRAME, ID, LAST, error, reply};
use crate::answer::{SerialAnswer, sse};
use crate::ids;
use crate::protocol::ReplyTo;
use crate::told::Told;

/// Writes events as SSE.
#[derive(Default)]
pub(super) struct Writer {
    reply_to: ReplyTo,
    /// The head waits for one event, because usage that comes right after it belongs into it.
    head: Option<Box<(Answer, Option<Map>)>>,
    ended: bool,
    called: bool,
    next: usize,
    /// A block waits for its first piece: an empty one must not appear, and a call's seal belongs into its id.
    waiting: BTreeMap<usize, Waiting>,
    open: BTreeMap<usize, Open>,
    usage: Option<Usage>,
    told: Told,
}

/// A block on the wire: its index there, and whether it takes a signature.
#[derive(Clone, Copy)]
struct Open {
    index: usize,
    thinking: bool,
    free: Option<Free>,
}

/// Free text where only JSON may stand: a string inside an object, as in whole answers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Free {
    Waiting,
    Begun,
}

struct Waiting {
    kind: PartKind,
    extras: Extras,
    seal: Option<Seal>,
}

impl SerialAnswer for Writer {
    fn event(&mut self, event: &Event, out: &mut Vec<u8>) {
        if self.ended {
            return;
        }
        if let Event::Usage(usage) = event {
            self.told.extras(ID, "usage", &usage.extras);
            match &mut self.usage {
                // Each report of this protocol stands for itself; elsewhere a later one leaves out what did not change.
                Some(before) if usage.extras.origin() != Some(ID) => before.update(usage.clone()),
                slot => *slot = Some(usage.clone()),
            }
        }
        self.flush_head(out);
        match event {
            Event::Started { id, model, extras } => {
                self.told.extras(ID, "", extras);
                let head = reply::head_out(id.as_deref(), model.as_deref(), extras, &self.reply_to);
                self.head = Some(Box::new((head, nested(extras, FRAME).cloned())));
            }
            Event::Opened { at, kind, extras } => self.opened(*at, kind, extras, out),
            Event::Delta { at, delta, extras } => self.delta(*at, delta, extras, out),
            Event::Closed { at, extras } => self.closed(*at, extras, out),
            Event::Usage(_) => {}
            Event::Finished { stop, extras } => self.finished(stop, extras, out),
            Event::Failed(error) => {
                self.ended = true;
                sse("error", &error::value(error), out);
            }
            Event::Ping => {
                self.flush_waiting(out);
                out.extend_from_slice(super::PING);
            }
            Event::Opaque(opaque) if opaque.origin == ID => {
                self.flush_waiting(out);
                let name = opaque.value.get("type").and_then(Value::as_str).unwrap_or("message");
                sse(name, &opaque.value, out);
            }
            Event::Opaque(opaque) => {
                self.told.once(format!("event.{}", opaque.origin), "an event of another protocol; left out")
            }
        }
    }

    fn ended(&self) -> bool {
        self.ended
    }

    fn told(&mut self) -> &mut Told {
        &mut self.told
    }
}

impl Writer {
    pub(super) fn new(reply_to: &ReplyTo) -> Self {
        Self { reply_to: reply_to.clone(), ..Self::default() }
    }

    fn flush_head(&mut self, out: &mut Vec<u8>) {
        let Some((mut head, rest)) = self.head.take().map(|head| *head) else { return };
        head.content = Some(Vec::new());
        head.usage = Some(reply::tokens(self.usage.as_ref().unwrap_or(&Usage::default()), true));
        let nulls = head.rest.get_or_insert_default();
        nulls.insert("stop_reason".to_owned(), Value::Null);
        nulls.insert("stop_sequence".to_owned(), Value::Null);
        #[derive(Serialize)]
        struct Start<'a> {
            r#type: &'static str,
            message: &'a Answer,
        }
        let frame = Start { r#type: "message_start", message: &head };
        sse("message_start", &With { known: frame, rest: rest.as_ref() }, out);
    }

    fn opened(&mut self, at: usize, kind: &PartKind, extras: &Extras, out: &mut Vec<u8>) {
        self.told.extras(ID, &format!("content[{at}]"), extras);
        let waiting = Waiting { kind: kind.clone(), extras: extras.clone(), seal: None };
        match kind {
            PartKind::Text | PartKind::Refusal | PartKind::Thinking | PartKind::ToolCall { .. } => {
                self.waiting.insert(at, waiting);
            }
            PartKind::Redacted(_) | PartKind::Media(_) | PartKind::Opaque(_) => self.start(at, waiting, out),
        }
    }

    fn flush_waiting(&mut self, out: &mut Vec<u8>) {
        while let Some((at, waiting)) = self.waiting.pop_first() {
            self.start(at, waiting, out);
        }
    }

    fn start(&mut self, at: usize, waiting: Waiting, out: &mut Vec<u8>) {
        let Waiting { kind, extras, seal } = waiting;
        self.called |= matches!(kind, PartKind::ToolCall { .. });
        let thinking = matches!(kind, PartKind::Thinking);
        let custom = matches!(kind, PartKind::ToolCall { kind: CallKind::Custom, .. });
        let free = custom.then_some(Free::Waiting);
        let part = Part { seal, extras, ..Part::new(kind.begun()) };
        // Foreign media and blocks were named as lost by `to_client`; they get no index.
        let Some(block) = reply::to_client(&part, at, &mut self.told) else { return };
        let index = self.next;
        self.next += 1;
        self.open.insert(at, Open { index, thinking, free });
        #[derive(Serialize)]
        struct Start<'a> {
            r#type: &'static str,
            index: usize,
            content_block: &'a Block,
        }
        let frame = Start { r#type: "content_block_start", index, content_block: &block };
        sse("content_block_start", &With { known: frame, rest: nested(&part.extras, FRAME) }, out);
    }

    fn delta(&mut self, at: usize, delta: &Delta, extras: &Extras, out: &mut Vec<u8>) {
        if let Some(waiting) = self.waiting.get_mut(&at) {
            if let (Delta::Seal(seal), PartKind::ToolCall { .. }) = (delta, &waiting.kind) {
                waiting.seal = Some(seal.clone());
                return;
            }
            if !delta.says_something() && extras.is_empty() && !matches!(delta, Delta::Arguments(_)) {
                return;
            }
            if let Some(waiting) = self.waiting.remove(&at) {
                self.start(at, waiting, out);
            }
        }
        let Some(Open { index, thinking, free }) = self.open.get(&at).copied() else { return };
        self.told.extras(ID, &format!("content[{at}]"), extras);
        let (inner, outer) = (nested(extras, DELTA), without(extras, &[DELTA]));
        let mut write = |delta: Piece<'_>| {
            let delta = With { known: delta, rest: inner };
            let frame = DeltaFrame { r#type: "content_block_delta", index, delta };
            sse("content_block_delta", &With { known: frame, rest: outer.as_ref() }, out);
        };
        match delta {
            Delta::Text(text) => write(Piece { r#type: "text_delta", text: Some(text), ..Piece::default() }),
            Delta::Thinking(text) => {
                write(Piece { r#type: "thinking_delta", thinking: Some(text), ..Piece::default() })
            }
            Delta::Arguments(text) if free.is_some() => {
                if !text.is_empty() {
                    let path = format!("content[{at}]");
                    self.told.once(path, "the arguments are no JSON object; sent as the string `_raw`");
                    let head = if free == Some(Free::Waiting) { FREE_HEAD } else { "" };
                    let text = format!("{head}{}", inside_string(text));
                    write(Piece { r#type: JSON_DELTA, partial_json: Some(&text), ..Piece::default() });
                    if let Some(open) = self.open.get_mut(&at) {
                        open.free = Some(Free::Begun);
                    }
                }
            }
            Delta::Arguments(text) => {
                write(Piece { r#type: JSON_DELTA, partial_json: Some(text), ..Piece::default() })
            }
            Delta::Seal(seal) if thinking => {
                let data = ids::fold_seal(seal, ID.name());
                write(Piece { r#type: "signature_delta", signature: Some(&data), ..Piece::default() });
            }
            Delta::Seal(_) => {
                self.told.once(format!("content[{at}].seal"), "anthropic has no signature here; left out")
            }
            Delta::Logprobs(_) => self.told.once("logprobs", "anthropic has no log probabilities; left out"),
            Delta::Extra { origin, key, value } if *origin == ID && *key == DELTAS => {
                let frame = DeltaFrame { r#type: "content_block_delta", index, delta: value };
                sse("content_block_delta", &frame, out);
            }
            Delta::Extra { origin, key: "citations", value } if *origin == ID => {
                write(Piece { r#type: "citations_delta", citation: Some(value), ..Piece::default() });
            }
            Delta::Extra { key, .. } => {
                self.told.once(format!("content[{at}].{key}"), "anthropic can't say it; left out")
            }
        }
    }

    fn closed(&mut self, at: usize, extras: &Extras, out: &mut Vec<u8>) {
        if let Some(waiting) = self.waiting.remove(&at) {
            let own = waiting.extras.origin() == Some(ID);
            match waiting.kind {
                PartKind::Text | PartKind::Refusal | PartKind::Thinking if !own => return,
                _ => self.start(at, waiting, out),
            }
        }
        self.told.extras(ID, &format!("content[{at}]"), extras);
        let Some(Open { index, free, .. }) = self.open.remove(&at) else { return };
        if free == Some(Free::Begun) {
            let delta = Piece { r#type: JSON_DELTA, partial_json: Some("\"}"), ..Piece::default() };
            sse("content_block_delta", &DeltaFrame { r#type: "content_block_delta", index, delta }, out);
        }
        #[derive(Serialize)]
        struct StopFrame {
            r#type: &'static str,
            index: usize,
        }
        let frame = StopFrame { r#type: "content_block_stop", index };
        sse("content_block_stop", &With { known: frame, rest: extras.owned_by(ID) }, out);
    }

    fn finished(&mut self, stop: &Stop, extras: &Extras, out: &mut Vec<u8>) {
        self.ended = true;
        self.told.extras(ID, "", extras);
        let (stop_reason, stop_sequence) = reply::stop_word(stop, extras, self.called, &mut self.told);
        #[derive(Serialize)]
        struct End<'a> {
            stop_reason: Option<&'a str>,
            stop_sequence: Option<&'a str>,
        }
        #[derive(Serialize)]
        struct EndFrame<'a, D: Serialize> {
            r#type: &'static str,
            delta: D,
            usage: &'a super::types::Tokens,
        }
        let usage = reply::tokens(self.usage.as_ref().unwrap_or(&Usage::default()), false);
        let delta = With { known: End { stop_reason, stop_sequence }, rest: nested(extras, DELTA) };
        let rest = without(extras, &[DELTA, LAST, "stop_reason"]);
        let frame = EndFrame { r#type: "message_delta", delta, usage: &usage };
        sse("message_delta", &With { known: frame, rest: rest.as_ref() }, out);
        #[derive(Serialize)]
        struct Last {
            r#type: &'static str,
        }
        sse(
            "message_stop",
            &With { known: Last { r#type: "message_stop" }, rest: nested(extras, LAST) },
            out,
        );
    }
}

const JSON_DELTA: &str = "input_json_delta";
const FREE_HEAD: &str = "{\"_raw\":\"";

/// Text as it stands between the quotes of a JSON string.
fn inside_string(text: &str) -> String {
    let quoted = Value::from(text).to_string();
    quoted.get(1..quoted.len() - 1).unwrap_or_default().to_owned()
}

/// Kept fields that stand under `key`.
fn nested<'a>(extras: &'a Extras, key: &str) -> Option<&'a Map> {
    extras.get(ID, key).and_then(Value::as_object)
}

/// Kept fields but for these, if any.
fn without(extras: &Extras, keys: &[&str]) -> Option<Map> {
    let kept = extras.owned_by(ID)?;
    Some(
        kept.iter()
            .filter(|(key, _)| !keys.contains(&key.as_str()))
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect(),
    )
}

/// One piece of a block; exactly the field of its type is there.
#[derive(Default, Serialize)]
struct Piece<'a> {
    r#type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    signature: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    partial_json: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    citation: Option<&'a Value>,
}

#[derive(Serialize)]
struct DeltaFrame<D: Serialize> {
    r#type: &'static str,
    index: usize,
    delta: D,
}

/// A known shape with kept fields beside it.
#[derive(Serialize)]
struct With<'a, T: Serialize> {
    #[serde(flatten)]
    known: T,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    rest: Option<&'a Map>,
}
