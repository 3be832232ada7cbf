//! A streamed answer, as the API and its many imitations send it.

use rail_model::{Event, Extras, Map, Opaque, ProtocolId};
use serde_json::Value;
use serde_json::value::RawValue;

use super::chunk::{Chunk, ChunkChoice};
use super::delta_in::Parts;
use super::{AFTER, CHOICES, CHUNK, ID, JOINED, NO_CONTENT, OTHERS, error, nest, reply, usage};
use crate::error::{WireError, parse};
use crate::frame::{Frame, Mapper};
use crate::protocol::HttpReply;
use crate::shape::Str;

/// Maps stream frames to events.
#[derive(Default)]
pub(super) struct StreamIn {
    head: Option<Head>,
    ended: bool,
    parts: Parts,
    finish: Option<Finish>,
    /// There are choices besides the first, which is the only one that becomes events of an answer.
    others: bool,
    /// Frames without choices that came after the finish.
    after: Vec<Value>,
    /// Unknown fields of frames whose call still waits for its name.
    carried: Map,
}

/// What the first chunk said of the whole answer; later ones repeat it.
struct Head {
    id: Option<String>,
    model: Option<String>,
    raws: [Option<String>; 5],
    rest: Map,
}

/// The reason, held back until the end because usage comes after it.
struct Finish {
    word: String,
    sequence: Option<Value>,
    extras: Map,
}

impl Mapper for StreamIn {
    fn protocol(&self) -> ProtocolId {
        ID
    }

    fn frame(&mut self, frame: Frame<'_>, out: &mut Vec<Event>) -> Result<(), WireError> {
        let data = frame.data.trim_ascii();
        if self.ended || data.is_empty() {
            return Ok(());
        }
        if is_done(data) {
            self.end(out);
            return Ok(());
        }
        let chunk: Chunk<'_> = parse(ID, data)?;
        let failed = chunk.error.is_some_and(|error| error::is_said(error.get()));
        if failed || frame.event == "error" {
            self.fail(data, out);
            return Ok(());
        }
        self.chunk(chunk, data, out)
    }

    fn finish(&mut self, out: &mut Vec<Event>) -> Result<(), WireError> {
        if !self.ended && self.finish.is_some() {
            self.end(out);
        }
        let problem = "the stream ended without finish_reason and without [DONE]";
        if self.ended { Ok(()) } else { Err(WireError::truncated(ID, problem)) }
    }
}

impl StreamIn {
    fn fail(&mut self, data: &[u8], out: &mut Vec<Event>) {
        self.ended = true;
        let reply = HttpReply { body: data.to_vec(), ..HttpReply::default() };
        out.push(Event::Failed(error::read(&reply)));
    }

    fn chunk(&mut self, mut chunk: Chunk<'_>, data: &[u8], out: &mut Vec<Event>) -> Result<(), WireError> {
        let choices = chunk.choices.take().unwrap_or_default();
        let tokens = chunk.usage.take();
        if choices.is_empty() {
            match tokens {
                Some(tokens) => self.usage(tokens, Some(chunk), out),
                None => self.opaque(parse(ID, data)?, out),
            }
            return Ok(());
        }
        if choices.iter().any(|choice| choice.message.is_some()) && self.head.is_none() {
            // A server that does not stream sends the whole answer as one frame.
            self.ended = true;
            return reply::events(data, out);
        }
        if choices.iter().any(|choice| !is_first(choice)) {
            self.others = true;
            out.push(Event::Opaque(Opaque { origin: ID, value: others(parse(ID, data)?) }));
        }
        for choice in choices.into_iter().filter(is_first) {
            self.choice(choice, std::mem::take(&mut chunk), data, out)?;
        }
        if let Some(tokens) = tokens.filter(|_| !self.ended) {
            self.start(&mut chunk, true, out);
            self.usage(tokens, None, out);
        }
        Ok(())
    }

    /// A frame we have no word for. After the finish it waits for it, so that the order stays.
    fn opaque(&mut self, value: Value, out: &mut Vec<Event>) {
        if self.finish.is_some() {
            self.after.push(value);
        } else {
            out.push(Event::Opaque(Opaque { origin: ID, value }));
        }
    }

    fn usage(&mut self, tokens: super::types::Tokens, chunk: Option<Chunk<'_>>, out: &mut Vec<Event>) {
        let mut usage = usage::read(tokens);
        if let Some(mut chunk) = chunk {
            if self.head.is_none() {
                self.start(&mut chunk, true, out);
            } else {
                nest(&mut usage.extras, CHUNK, self.differences(chunk));
            }
        }
        out.push(Event::Usage(usage));
    }

    /// The answer begins with the first chunk that says anything of it.
    fn start(&mut self, chunk: &mut Chunk<'_>, silent: bool, out: &mut Vec<Event>) {
        if self.head.is_some() {
            return;
        }
        let head = Head::of(chunk);
        chunk.object.take_if(|object| object.get() == "\"chat.completion.chunk\"");
        let mut extras = Extras::rest(ID, std::mem::take(chunk).leftovers());
        if silent {
            extras.mark(ID, NO_CONTENT);
        }
        self.parts.answer = head.id.clone().unwrap_or_default();
        out.push(Event::Started { id: head.id.clone(), model: head.model.clone(), extras });
        self.head = Some(head);
    }

    fn choice(
        &mut self,
        mut choice: ChunkChoice<'_>,
        mut chunk: Chunk<'_>,
        data: &[u8],
        out: &mut Vec<Event>,
    ) -> Result<(), WireError> {
        let from = out.len();
        let mut delta = choice.delta.take().unwrap_or_default();
        let begins = self.head.is_none();
        self.start(&mut chunk, delta.content.is_none(), out);
        let mut left = if begins { Map::new() } else { self.differences(chunk) };
        delta.role = None;
        choice.index = None;
        let mut inner = self.parts.delta(&mut delta, &mut choice.logprobs, out);
        inner.extend(delta.leftovers());
        let tokens = choice.usage.take();
        let word = choice.finish_reason.take().filter(|word| !word.is_empty());
        if word.as_deref() == Some("error") {
            self.fail(data, out);
            return Ok(());
        }
        if word.is_some() {
            self.parts.close_ripe(out);
        }
        let sequence = choice.stop_reason.and_then(|raw| serde_json::from_str(raw.get()).ok());
        choice.logprobs.take_if(|logprobs| logprobs.clone().leftovers().is_empty());
        let mut outer = choice.leftovers();
        if !inner.is_empty() {
            outer.insert("delta".to_owned(), Value::Object(inner));
        }
        if !outer.is_empty() {
            left.insert(CHOICES.to_owned(), Value::Object(outer));
        }
        self.settle(left, word, sequence, data, from, out)?;
        if let Some(tokens) = tokens {
            self.usage(tokens, None, out);
        }
        Ok(())
    }

    /// Gives a chunk's unknown fields to the event it became; one that became none is kept whole.
    fn settle(
        &mut self,
        mut left: Map,
        word: Option<Str<'_>>,
        sequence: Option<Value>,
        data: &[u8],
        from: usize,
        out: &mut Vec<Event>,
    ) -> Result<(), WireError> {
        let events = out.get_mut(from..).unwrap_or_default();
        let written = events.iter().filter(|event| is_written(event)).count();
        if written > 0 {
            let carried = std::mem::take(&mut self.carried);
            left.extend(carried);
            join(events, written, &mut left);
        }
        if let Some(word) = word {
            let finish = Finish { word: word.into_string(), sequence, extras: left };
            // Some servers say `stop` again after the true reason.
            if self.finish.as_ref().is_none_or(|finish| finish.word == "stop") {
                self.finish = Some(finish);
            }
        } else if !left.is_empty() {
            if self.parts.waiting {
                self.carried.extend(left);
            } else {
                self.opaque(parse(ID, data)?, out);
            }
        }
        Ok(())
    }

    /// The fields in which a chunk differs from the first; null for one that it lacks.
    fn differences(&self, mut chunk: Chunk<'_>) -> Map {
        let Some(head) = &self.head else { return chunk.leftovers() };
        let mut lacks = Vec::new();
        if chunk.id.as_deref() == head.id.as_deref() {
            chunk.id = None;
        }
        if chunk.model.as_deref() == head.model.as_deref() {
            chunk.model = None;
        }
        for ((field, name), said) in raws(&mut chunk).into_iter().zip(RAWS).zip(&head.raws) {
            match (&field, said) {
                (Some(raw), Some(said)) if raw.get() == said => *field = None,
                (None, Some(_)) => lacks.push(name),
                (_, _) => {}
            }
        }
        let mut left = chunk.leftovers();
        for (key, value) in &head.rest {
            match left.get(key) {
                Some(other) if other == value => {
                    left.shift_remove(key);
                }
                Some(_) => {}
                None => {
                    left.insert(key.clone(), Value::Null);
                }
            }
        }
        left.extend(lacks.into_iter().map(|name| (name.to_owned(), Value::Null)));
        left
    }

    fn end(&mut self, out: &mut Vec<Event>) {
        self.ended = true;
        if self.head.is_none() {
            out.push(Event::Started { id: None, model: None, extras: Extras::NONE });
        }
        self.parts.finish(out);
        let called = self.parts.called();
        let finish = self.finish.take().unwrap_or_else(|| {
            let word = if called { "tool_calls" } else { "stop" };
            Finish { word: word.to_owned(), sequence: None, extras: Map::new() }
        });
        let mut extras = Extras::rest(ID, finish.extras);
        nest(&mut extras, CHUNK, std::mem::take(&mut self.carried));
        let stop = usage::read_stop(Some(&finish.word), finish.sequence.as_ref(), called, &mut extras);
        if self.others {
            extras.insert(ID, OTHERS, Value::Bool(true));
        }
        if !self.after.is_empty() {
            extras.insert(ID, AFTER, Value::Array(std::mem::take(&mut self.after)));
        }
        out.push(Event::Finished { stop, extras });
    }
}

const RAWS: [&str; 5] = ["object", "created", "service_tier", "system_fingerprint", "obfuscation"];

fn raws<'c, 'a>(chunk: &'c mut Chunk<'a>) -> [&'c mut Option<&'a RawValue>; 5] {
    [
        &mut chunk.object,
        &mut chunk.created,
        &mut chunk.service_tier,
        &mut chunk.system_fingerprint,
        &mut chunk.obfuscation,
    ]
}

impl Head {
    /// Takes id and model out of the chunk and notes the rest.
    fn of(chunk: &mut Chunk<'_>) -> Self {
        let raws = raws(chunk).map(|field| field.map(|raw| raw.get().to_owned()));
        let rest = chunk.rest.as_deref().cloned().unwrap_or_default();
        let text = |field: Option<Str<'_>>| field.map(Str::into_string).filter(|text| !text.is_empty());
        Self { id: text(chunk.id.take()), model: text(chunk.model.take()), raws, rest }
    }
}

/// The end marker; some servers quote it or write it small.
fn is_done(data: &[u8]) -> bool {
    let bare = data.strip_prefix(b"\"").unwrap_or(data);
    bare.get(..6).is_some_and(|head| head.eq_ignore_ascii_case(b"[DONE]"))
}

fn is_first(choice: &ChunkChoice<'_>) -> bool {
    choice.index.is_none_or(|index| index.0 == 0)
}

/// A frame without its first choice, if it has others.
fn others(mut value: Value) -> Value {
    if let Some(choices) = value.get_mut("choices").and_then(Value::as_array_mut) {
        choices.retain(|choice| choice.get("index").and_then(Value::as_u64).is_some_and(|index| index > 0));
    }
    value
}

/// Whether an event of this protocol stands for something in a frame.
fn is_written(event: &Event) -> bool {
    use rail_model::PartKind as K;
    match event {
        Event::Started { .. } | Event::Delta { .. } => true,
        Event::Opened { kind, .. } => match kind {
            K::ToolCall { .. } | K::Opaque(_) | K::Redacted(_) => true,
            K::Text | K::Refusal | K::Thinking | K::Media(_) => false,
        },
        Event::Closed { .. }
        | Event::Usage(_)
        | Event::Finished { .. }
        | Event::Failed(_)
        | Event::Ping
        | Event::Opaque(_) => false,
    }
}

/// Notes that these events came in one frame, and gives its unknown fields to the last.
fn join(events: &mut [Event], written: usize, left: &mut Map) {
    let mut seen = 0;
    for event in events.iter_mut().filter(|event| is_written(event)) {
        seen += 1;
        let nested = matches!(event, Event::Opened { .. });
        let (Event::Started { extras, .. } | Event::Opened { extras, .. } | Event::Delta { extras, .. }) =
            event
        else {
            continue;
        };
        if seen < written {
            extras.mark(ID, JOINED);
        } else if nested {
            nest(extras, CHUNK, std::mem::take(left));
        } else {
            extras.merge(Extras::rest(ID, std::mem::take(left)));
        }
    }
}
