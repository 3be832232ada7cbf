//! Whole answers, both ways.

use rail_model::{ApiError, CallKind, Event, Extras, Map, Part, PartBody, ProtocolId, Reply, TokenCount};
use serde_json::Value;

use super::dress::{Place, dress, is_words};
use super::item_in::{self, Side};
use super::item_out::{self, Reader};
use super::types::{Answer, CountAnswer};
use super::{ID, error, head, kept_fields, missing, object, usage};
use crate::answer::WholeAnswer;
use crate::error::{WireError, parse};
use crate::frame::{Frame, Mapper};
use crate::protocol::{HttpReply, ReplyTo};
use crate::shape::Count;
use crate::told::Told;

/// Reads a whole answer.
pub(super) struct WholeIn;

impl Mapper for WholeIn {
    fn protocol(&self) -> ProtocolId {
        ID
    }

    fn frame(&mut self, frame: Frame<'_>, out: &mut Vec<Event>) -> Result<(), WireError> {
        events(frame.data, out)
    }

    fn finish(&mut self, _: &mut Vec<Event>) -> Result<(), WireError> {
        Ok(())
    }
}

/// The events of a whole answer, or of an error that came with HTTP 200.
pub(super) fn events(data: &[u8], out: &mut Vec<Event>) -> Result<(), WireError> {
    let answer: Answer = parse(ID, data)?;
    let rest = answer.rest.as_ref();
    let error = rest.and_then(|rest| rest.get("error")).is_some_and(|error| !error.is_null());
    if answer.status.as_deref() == Some("failed") || (answer.output.is_none() && error) {
        out.push(Event::Failed(error::read_said(parse(ID, data)?)));
        return Ok(());
    }
    out.extend(read(answer)?.into_events());
    Ok(())
}

fn read(mut answer: Answer) -> Result<Reply, WireError> {
    let id = answer.id.clone().unwrap_or_default();
    let mut parts = Vec::new();
    for (index, json) in answer.output.take().ok_or_else(|| missing("output"))?.iter().enumerate() {
        let path = format!("output[{index}]");
        let kind = item_in::answered_kind(json, &path)?;
        parts.extend(item_in::parts(json, kind, Side::Upstream { answer: &id, index }, &path)?);
    }
    let called = parts.iter().any(|part| matches!(part.body, PartBody::ToolCall(_)));
    let stop = head::stop(&answer, called);
    let usage = answer.usage.take().map(usage::read);
    let (id, model, extras) = head::read(answer);
    Ok(Reply { id, model, parts, stop, usage, extras, end: Extras::NONE })
}

/// Writes a whole answer.
pub(super) struct Written;

impl WholeAnswer for Written {
    const ID: ProtocolId = ID;

    fn write(reply: Reply, reply_to: &ReplyTo, told: &mut Told) -> Vec<u8> {
        write(reply, reply_to, told).to_string().into_bytes()
    }

    fn fail(error: &ApiError) -> Vec<u8> {
        match &error.said {
            Some((origin, said)) if *origin == ID && said.get("object").is_some() => {
                said.to_string().into_bytes()
            }
            Some(_) | None => error::write(error).body,
        }
    }
}

fn write(reply: Reply, reply_to: &ReplyTo, told: &mut Told) -> Value {
    let Reply { id, model, parts, stop, usage, extras, end } = reply;
    told.extras(ID, "", &end);
    let id = head::answer_id(id.as_deref(), &extras, reply_to);
    let mut dressed: Vec<Part> = Vec::with_capacity(parts.len());
    let mut words_before = false;
    for (index, mut part) in parts.into_iter().enumerate() {
        if is_blank(&part) {
            continue;
        }
        if let PartBody::ToolCall(call) = &mut part.body
            && call.kind == CallKind::Function
            && call.arguments.is_empty()
            && !item_out::is_own(&part.extras)
        {
            call.arguments.push_str("{}");
        }
        let words = is_words(&part);
        let place = Place { answer: &id, index, joined: words && words_before, reply_to };
        if let Some(part) = dress(part, &place, told) {
            dressed.push(part);
            words_before = words;
        }
    }
    let refused = dressed.iter().any(|part| matches!(part.body, PartBody::Refusal(_)));
    let mut losses = Vec::new();
    let items = item_out::groups(&dressed).enumerate().filter_map(|(index, group)| {
        item_out::item(group, Reader::Client, &format!("output[{index}]"), &mut losses)
    });
    let items: Vec<Value> = items.map(Value::Object).collect();
    losses.into_iter().for_each(|loss| told.once(loss.path, &loss.reason));
    let mut map = Map::from_iter([("id".to_owned(), Value::from(id))]);
    match head::said(&end).or_else(|| head::said(&extras)) {
        Some(said) => map.extend(said),
        None => {
            map.extend(head::adapted(&extras, reply_to, told));
            head::end(&mut map, &stop, refused, reply_to, told);
        }
    }
    if let Some(model) = reply_to.model.clone().or(model) {
        map.insert("model".to_owned(), Value::from(model));
    }
    map.insert("output".to_owned(), Value::Array(items));
    if let Some(usage) = usage {
        told.extras(ID, "usage", &usage.extras);
        map.insert("usage".to_owned(), usage::write(&usage));
    }
    Value::Object(map)
}

/// An empty text of another protocol says nothing.
fn is_blank(part: &Part) -> bool {
    let empty = match &part.body {
        PartBody::Text(text) | PartBody::Refusal(text) | PartBody::Thinking(text) => text.is_empty(),
        PartBody::Redacted(_)
        | PartBody::ToolCall(_)
        | PartBody::ToolResult(_)
        | PartBody::Media(_)
        | PartBody::Opaque(_) => false,
    };
    empty && part.seal.is_none() && !item_out::is_own(&part.extras)
}

pub(super) fn read_count(body: &[u8]) -> Result<TokenCount, WireError> {
    let mut answer: CountAnswer = parse(ID, body)?;
    let input = answer.input_tokens.take().ok_or_else(|| missing("input_tokens"))?;
    answer.object.take_if(|object| object == "response.input_tokens");
    Ok(TokenCount { input: input.0, cached: None, extras: Extras::rest(ID, answer.leftovers()) })
}

pub(super) fn write_count(count: &TokenCount) -> HttpReply {
    let answer = CountAnswer {
        object: Some("response.input_tokens".to_owned()),
        input_tokens: Some(Count(count.input)),
        rest: None,
    };
    let kept: Map = kept_fields(&count.extras).collect();
    HttpReply::json(200, Value::Object(object(&answer.with_rest(Some(&kept)))).to_string().into_bytes())
}
