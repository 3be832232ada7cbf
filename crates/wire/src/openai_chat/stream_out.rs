//! A streamed answer, as clients of the API expect it.

use std::collections::BTreeMap;

use rail_model::{
    ApiError, CallId, CallKind, Delta, Event, Extras, Logprob, Loss, Map, PartKind, Seal, Stop, Usage,
};
use serde_json::{Value, json};

use super::frames::{Frames, chunk_of, overlay, own, sse};
use super::piece::{Said, SaidCall, SaidCustom, SaidFunction, SaidLogprobs};
use super::{
    AFTER, CHOICES, CHUNK, DETAILS, GEMINI, GOOGLE, ID, IN_CALLS, JOINED, LEGACY, NAMELESS, NO_CONTENT,
    OTHERS, REASONING, citations, error, id_for_client, messages_out, usage,
};
use crate::protocol::{Encode, ReplyTo};
use crate::told::Told;

/// Writes events as SSE.
#[derive(Default)]
pub(super) struct StreamOut {
    reply_to: ReplyTo,
    frames: Option<Frames>,
    ended: bool,
    parts: BTreeMap<usize, Voice>,
    /// Characters of text so far, and before the newest text.
    chars: u64,
    before: u64,
    calls: usize,
    called: bool,
    /// A call's head waits for the next event, because its seal belongs into its id.
    waiting: Option<Waiting>,
    /// Pieces of a frame that is not complete yet.
    pending: Option<Said<'static>>,
    usage: Option<Usage>,
    told: Told,
}

/// What an open part says, and where.
#[derive(Clone, Copy)]
enum Voice {
    Text,
    Refusal,
    ReasoningContent,
    Reasoning,
    /// Reasoning whose words are in its details.
    Details,
    Call {
        index: usize,
        kind: CallKind,
        /// No arguments yet.
        empty: bool,
    },
    Legacy,
    /// Not on the wire.
    Lost,
}

struct Waiting {
    at: usize,
    id: CallId,
    name: String,
    kind: CallKind,
    seal: Option<Seal>,
    extras: Extras,
    /// The frame goes on with the next event; else what it says besides.
    joined: bool,
    chunk: Option<Map>,
}

impl StreamOut {
    pub(super) fn new(reply_to: &ReplyTo) -> Self {
        Self { reply_to: reply_to.clone(), ..Self::default() }
    }
}

impl Encode for StreamOut {
    fn push(&mut self, event: &Event, out: &mut Vec<u8>) {
        if self.ended {
            return;
        }
        if let (Some(waiting), Event::Delta { at, delta: Delta::Seal(seal), extras }) =
            (&mut self.waiting, event)
            && waiting.at == *at
        {
            waiting.seal = Some(seal.clone());
            if !extras.marked(ID, JOINED) {
                (waiting.joined, waiting.chunk) = (false, extras.owned_by(ID).cloned());
            }
            return;
        }
        self.flush_waiting(out);
        match event {
            Event::Started { id, model, extras } => {
                self.started(id.as_deref(), model.as_deref(), extras, out)
            }
            Event::Opened { at, kind, extras } => self.opened(*at, kind, extras, out),
            Event::Delta { at, delta, extras } => self.delta(*at, delta, extras, out),
            Event::Closed { at, extras } => self.closed(*at, extras, out),
            Event::Usage(usage) => {
                self.told.extras(ID, "usage", &usage.extras);
                self.usage.get_or_insert_default().update(usage.clone());
            }
            Event::Finished { stop, extras } => self.finished(stop, extras, out),
            Event::Failed(error) => self.failed(error, out),
            Event::Ping => {}
            Event::Opaque(opaque) if opaque.origin == ID => {
                self.as_it_was(&opaque.value, out);
            }
            Event::Opaque(opaque) => {
                self.told.once(format!("event.{}", opaque.origin), "an event of another protocol; left out");
            }
        }
    }

    fn finish(&mut self, out: &mut Vec<u8>) {
        if !self.ended {
            self.failed(&crate::answer::unfinished(), out);
        }
    }

    fn losses(&mut self) -> Vec<Loss> {
        self.told.take()
    }
}

impl StreamOut {
    fn started(&mut self, id: Option<&str>, model: Option<&str>, extras: &Extras, out: &mut Vec<u8>) {
        self.told.extras(ID, "", extras);
        self.frames = Some(Frames::new(id, model, extras, &self.reply_to));
        let content = (!extras.marked(ID, NO_CONTENT)).then_some("".into());
        let said = Said { role: Some("assistant"), content, ..Said::default() };
        let chunk = extras.get(ID, CHOICES).map(|left| Map::from_iter([(CHOICES.to_owned(), left.clone())]));
        self.say(said, extras.marked(ID, JOINED), chunk.as_ref(), out);
    }

    fn opened(&mut self, at: usize, kind: &PartKind, extras: &Extras, out: &mut Vec<u8>) {
        let path = format!("parts[{at}]");
        citations::tell(&mut self.told, &path, extras);
        let voice = match kind {
            PartKind::Text => {
                self.before = self.chars;
                let annotations: Vec<_> = citations::kept(extras, self.before).collect();
                if !annotations.is_empty() {
                    self.say(Said { annotations, ..Said::default() }, false, None, out);
                }
                Voice::Text
            }
            PartKind::Refusal => Voice::Refusal,
            PartKind::Thinking if extras.marked(ID, DETAILS) => Voice::Details,
            PartKind::Thinking if extras.marked(ID, REASONING) => Voice::Reasoning,
            PartKind::Thinking => Voice::ReasoningContent,
            PartKind::ToolCall { id, name, kind } => {
                let (joined, chunk) = (extras.marked(ID, JOINED), chunk_of(extras).cloned());
                let name = if extras.marked(ID, NAMELESS) { String::new() } else { name.clone() };
                let (id, kind, extras) = (id.clone(), *kind, extras.clone());
                self.waiting = Some(Waiting { at, id, name, kind, seal: None, extras, joined, chunk });
                return;
            }
            PartKind::Redacted(_) => {
                match extras.get(ID, "reasoning_details").and_then(Value::as_array) {
                    Some(details) => {
                        let said = Said { reasoning_details: details.clone(), ..Said::default() };
                        self.say(said, extras.marked(ID, JOINED), chunk_of(extras), out);
                    }
                    None => self.told.once(path, "openai-chat has no hidden reasoning; left out"),
                }
                Voice::Lost
            }
            PartKind::Opaque(opaque) if opaque.origin == ID && extras.marked(ID, IN_CALLS) => {
                self.calls += 1;
                let said =
                    Said { tool_calls: vec![SaidCall::Unknown(opaque.value.clone())], ..Said::default() };
                self.say(said, extras.marked(ID, JOINED), chunk_of(extras), out);
                Voice::Lost
            }
            PartKind::Opaque(opaque) if opaque.origin == ID => {
                self.content_part(&opaque.value, chunk_of(extras), out);
                Voice::Lost
            }
            PartKind::Opaque(_) => {
                self.told.once(path, "a block of another protocol; left out");
                Voice::Lost
            }
            PartKind::Media(_) => {
                self.told.once(path, "openai-chat streams hold no media; left out");
                Voice::Lost
            }
        };
        self.parts.insert(at, voice);
    }

    /// A content part that we have no word for, in a frame of its own because text beside it is a plain string.
    fn content_part(&mut self, value: &Value, chunk: Option<&Map>, out: &mut Vec<u8>) {
        let Some(frames) = &self.frames else { return };
        if let Some(pending) = self.pending.take() {
            frames.write(&pending, None, None, out);
        }
        let delta = json!({"delta": {"content": [value]}});
        let mut chunk = chunk.cloned().unwrap_or_default();
        let left = chunk.entry(CHOICES).or_insert(Value::Null);
        overlay(left, &delta);
        frames.write(&Said::default(), None, Some(&chunk), out);
    }

    /// A call without arguments gets the empty object, because clients parse what they were sent.
    fn closed(&mut self, at: usize, extras: &Extras, out: &mut Vec<u8>) {
        self.told.extras(ID, &format!("parts[{at}]"), extras);
        if let Some(Voice::Call { index, kind: CallKind::Function, empty: true }) = self.parts.remove(&at) {
            let call = SaidCall::more(index, CallKind::Function, "{}");
            self.say(Said { tool_calls: vec![call], ..Said::default() }, false, None, out);
        }
    }

    /// Writes the head of a call. A seal has no field here, so it travels in the id.
    fn flush_waiting(&mut self, out: &mut Vec<u8>) {
        let Some(Waiting { at, id, name, kind, seal, extras, joined, chunk }) = self.waiting.take() else {
            return;
        };
        self.called = true;
        let rest = |key: &str| extras.get(ID, key).and_then(Value::as_object).cloned().map(Box::new);
        if extras.marked(ID, LEGACY) {
            self.parts.insert(at, Voice::Legacy);
            let call = SaidFunction {
                name: Some(name.into()),
                arguments: "".into(),
                rest: own(&extras).map(Box::new),
            };
            let said = Said { function_call: Some(call), ..Said::default() };
            return self.say(said, joined, chunk.as_ref(), out);
        }
        let index = self.calls;
        self.calls += 1;
        self.parts.insert(at, Voice::Call { index, kind, empty: true });
        let (mut function, mut custom) = (None, None);
        let name = Some(name.into());
        let word = match kind {
            CallKind::Function => {
                function = Some(SaidFunction { name, arguments: "".into(), rest: rest("function") });
                "function"
            }
            CallKind::Custom => {
                custom = Some(SaidCustom { name, input: "".into(), rest: rest("custom") });
                "custom"
            }
        };
        let mut unknown = own(&extras).unwrap_or_default();
        if let Some(seal) = seal.as_ref().filter(|seal| seal.issuer == GEMINI && extras.marked(ID, GOOGLE)) {
            unknown.insert("extra_content".to_owned(), messages_out::with_signature(&extras, &seal.data));
        }
        let id = Some(id_for_client(&id, seal.as_ref()));
        let rest = (!unknown.is_empty()).then(|| Box::new(unknown));
        let call = SaidCall::Known { index, id, r#type: Some(word), function, custom, rest };
        self.say(Said { tool_calls: vec![call], ..Said::default() }, joined, chunk.as_ref(), out);
    }

    fn delta(&mut self, at: usize, delta: &Delta, extras: &Extras, out: &mut Vec<u8>) {
        let Some(voice) = self.parts.get(&at).copied() else { return };
        if !extras.is_empty() {
            self.told.extras(ID, &format!("parts[{at}]"), extras);
        }
        if !delta.says_something() && extras.origin() != Some(ID) {
            return;
        }
        let said = match (delta, voice) {
            (_, Voice::Lost) => return self.end_frame(extras, out),
            (Delta::Text(text), Voice::Refusal) => Said { refusal: Some(text.into()), ..Said::default() },
            (Delta::Text(text), _) => {
                self.chars += text.chars().count() as u64;
                Said { content: Some(text.into()), ..Said::default() }
            }
            (Delta::Thinking(text), Voice::Reasoning) => {
                Said { reasoning: Some(text.into()), ..Said::default() }
            }
            (Delta::Thinking(_), Voice::Details) => return self.end_frame(extras, out),
            (Delta::Thinking(text), _) => Said { reasoning_content: Some(text.into()), ..Said::default() },
            (Delta::Arguments(text), Voice::Call { index, kind, .. }) => {
                self.parts.insert(at, Voice::Call { index, kind, empty: false });
                Said { tool_calls: vec![SaidCall::more(index, kind, text)], ..Said::default() }
            }
            (Delta::Arguments(text), _) => {
                let call = SaidFunction { arguments: text.into(), ..SaidFunction::default() };
                Said { function_call: Some(call), ..Said::default() }
            }
            (Delta::Logprobs(list), voice) => {
                Said { logprobs: Some(logprobs(list, voice)), ..Said::default() }
            }
            (Delta::Seal(_), _) => {
                self.told.once(format!("parts[{at}].seal"), "openai-chat has no signature here; left out");
                return self.end_frame(extras, out);
            }
            (Delta::Extra { origin, key, value }, _) => match (*origin == ID, *key) {
                (_, "annotations") if let Some(value) = citations::streamed(*origin, value, self.before) => {
                    Said { annotations: vec![value], ..Said::default() }
                }
                (true, "reasoning_details") => {
                    Said { reasoning_details: vec![value.clone()], ..Said::default() }
                }
                (_, key) => {
                    self.told.once(format!("parts[{at}].{key}"), "openai-chat can't say it; left out");
                    return self.end_frame(extras, out);
                }
            },
        };
        self.say(said, extras.marked(ID, JOINED), extras.owned_by(ID), out);
    }

    /// An event that is not on the wire may still be the last of a frame that is.
    fn end_frame(&mut self, extras: &Extras, out: &mut Vec<u8>) {
        if self.pending.is_some() && !extras.marked(ID, JOINED) {
            self.say(Said::default(), false, extras.owned_by(ID), out);
        }
    }

    /// Writes a frame, or keeps its piece until the frame is complete.
    fn say(&mut self, said: Said<'_>, joined: bool, chunk: Option<&Map>, out: &mut Vec<u8>) {
        if joined {
            return self.pending.get_or_insert_default().absorb(said);
        }
        let Some(frames) = &self.frames else { return };
        match self.pending.take() {
            Some(mut pending) => {
                pending.absorb(said);
                frames.write(&pending, None, chunk, out);
            }
            None => frames.write(&said, None, chunk, out),
        }
    }

    fn finished(&mut self, stop: &Stop, extras: &Extras, out: &mut Vec<u8>) {
        self.ended = true;
        self.told.extras(ID, "", extras);
        let word = usage::stop_word(stop, extras, self.called, &mut self.told);
        let Some(frames) = &self.frames else { return };
        let mut chunk = extras.owned_by(ID).cloned().unwrap_or_default();
        let after = chunk.shift_remove(AFTER);
        if chunk.shift_remove(OTHERS).is_some_and(|others| others.is_array()) {
            self.told.once(
                "choices",
                "only the first choice of a whole answer can be streamed; the others are left out",
            );
        }
        chunk.retain(|key, _| key != "finish_reason" && key != CHUNK);
        // Of a whole answer, which has a message where a stream has deltas.
        if let Some(left) = chunk.get_mut(CHOICES).and_then(Value::as_object_mut) {
            left.shift_remove("message");
        }
        let said = self.pending.take().unwrap_or_default();
        frames.write(&said, Some(word), Some(&chunk), out);
        for value in after.as_ref().and_then(Value::as_array).into_iter().flatten() {
            self.as_it_was(value, out);
        }
        if let Some(usage) = self.usage.as_ref().filter(|_| self.reply_to.include_usage != Some(false)) {
            frames.usage(usage, out);
        }
        out.extend_from_slice(b"data: [DONE]\n\n");
    }

    /// A frame that we have no word for, but the client sees the model it asked for.
    fn as_it_was(&self, value: &Value, out: &mut Vec<u8>) {
        match (&self.reply_to.model, value.get("model")) {
            (Some(model), Some(_)) => {
                let mut value = value.clone();
                if let Some(slot) = value.get_mut("model") {
                    *slot = Value::from(model.as_str());
                }
                sse(&value, out);
            }
            (_, _) => sse(value, out),
        }
    }

    fn failed(&mut self, error: &ApiError, out: &mut Vec<u8>) {
        self.ended = true;
        sse(&error::stream_value(error), out);
    }
}

fn logprobs(list: &[Logprob], voice: Voice) -> SaidLogprobs {
    let entries = Some(usage::write_logprobs(list));
    match voice {
        Voice::Refusal => SaidLogprobs { refusal: entries, content: None },
        Voice::Text
        | Voice::ReasoningContent
        | Voice::Reasoning
        | Voice::Details
        | Voice::Call { .. }
        | Voice::Legacy
        | Voice::Lost => SaidLogprobs { content: entries, refusal: None },
    }
}
