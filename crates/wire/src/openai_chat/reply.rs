//! Whole answers, both ways.

use rail_model::{ApiError, CallId, Event, Extras, Json, Map, Part, PartBody, ProtocolId, Reply, Seal};
use serde_json::{Number, Value};

use super::chunk::OneOrMany;
use super::messages_out::{Cited, Spoken};
use super::types::{Answer, CallEntry, Choice, FunctionCall, Logprobs, Turn};
use super::{
    AS_ARRAY, CHOICES, GEMINI, GOOGLE, ID, IN_CALLS, LEGACY, NAMELESS, NO_CHOICES, OTHERS, UNKNOWN_TOOL,
    citations, error, id_for_client, messages_in, messages_out, missing, nest, object_at, usage,
};
use crate::answer::WholeAnswer;
use crate::error::{WireError, parse};
use crate::frame::{Frame, Mapper};
use crate::ids;
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
    let said = answer.error.as_ref().is_some_and(|error| error::is_said(&error.to_string()));
    if said || is_failed(&answer) {
        let reply = HttpReply { body: data.to_vec(), ..HttpReply::default() };
        out.push(Event::Failed(error::read(&reply)));
    } else {
        out.extend(read(answer)?.into_events());
    }
    Ok(())
}

/// OpenRouter says inside a choice that it failed.
fn is_failed(answer: &Answer) -> bool {
    let choices = answer.choices.as_deref().unwrap_or_default();
    choices.get(first(choices)).is_some_and(|choice| choice.finish_reason.as_deref() == Some("error"))
}

/// Where the choice stands that is the answer: the one with the lowest index, which need not be 0.
fn first(choices: &[Choice]) -> usize {
    let index = |choice: &Choice| choice.index.as_ref().map_or(0, |index| index.0);
    choices.iter().enumerate().min_by_key(|(_, choice)| index(choice)).map_or(0, |(at, _)| at)
}

fn read(mut answer: Answer) -> Result<Reply, WireError> {
    let mut choices = answer.choices.take().ok_or_else(|| missing("choices"))?;
    answer.object.take_if(|object| object == "chat.completion");
    let (id, model) = (answer.id.take(), answer.model.take());
    let usage = answer.usage.take().map(usage::read);
    let extras = Extras::rest(ID, answer.leftovers());
    let first = first(&choices);
    if choices.is_empty() {
        let mut end = Extras::NONE;
        end.mark(ID, NO_CHOICES);
        return Ok(Reply {
            id,
            model,
            parts: Vec::new(),
            stop: rail_model::Stop::EndTurn,
            usage,
            extras,
            end,
        });
    }
    let choice = choices.remove(first);
    let mut end = Extras::NONE;
    let (parts, stop) = self::choice(choice, id.as_deref().unwrap_or_default(), &mut end)
        .map_err(|error| error.under(&format!("choices[{first}]")))?;
    if !choices.is_empty() {
        let others = choices.into_iter().map(|choice| Value::Object(choice.leftovers())).collect();
        end.insert(ID, OTHERS, Value::Array(others));
    }
    Ok(Reply { id, model, parts, stop, usage, extras, end })
}

fn choice(
    mut choice: Choice,
    answer: &str,
    end: &mut Extras,
) -> Result<(Vec<Part>, rail_model::Stop), WireError> {
    choice.index.take_if(|index| index.0 == 0);
    let mut turn = choice.message.take().ok_or_else(|| missing("message"))?;
    turn.role.take_if(|role| role == "assistant");
    let mut parts = messages_in::spoken(&mut turn, "message", end)?;
    calls(&mut turn, answer, &mut parts)?;
    let logprobs = choice.logprobs.take().map(|logprobs| attach(logprobs, &mut parts)).unwrap_or_default();
    let word = choice.finish_reason.take();
    choice.rest.as_mut().and_then(|rest| rest.shift_remove("finish_reason"));
    let called = parts.iter().any(|part| matches!(part.body, PartBody::ToolCall(_)));
    let stop = usage::read_stop(word.as_deref(), choice.stop_reason.as_ref(), called, end);
    let mut left = choice.leftovers();
    for (key, nested) in [("message", turn.leftovers()), ("logprobs", logprobs)] {
        if !nested.is_empty() {
            left.insert(key.to_owned(), Value::Object(nested));
        }
    }
    nest(end, CHOICES, left);
    Ok((parts, stop))
}

fn calls(turn: &mut Turn, answer: &str, parts: &mut Vec<Part>) -> Result<(), WireError> {
    if let Some(call) = turn.function_call.take() {
        let id = ids::mint(answer, parts.len());
        parts.push(messages_in::legacy_call(call, id).map_err(|error| error.under("message.function_call"))?);
    }
    let entries = turn.tool_calls.take_if(|calls| !calls.0.is_empty()).map(|calls| calls.0);
    for (at, entry) in entries.into_iter().flatten().enumerate() {
        let Some((mut entry, nameless)) = mended(entry) else { continue };
        let given = entry.id.take().filter(|id| !id.is_empty());
        let id = given.clone().map_or_else(|| ids::mint(answer, parts.len()), CallId::Given);
        entry.id = given;
        let part = messages_in::call(entry, (id, None));
        let mut part = part.map_err(|error| error.under(&format!("message.tool_calls[{at}]")))?;
        if nameless {
            part.extras.mark(ID, NAMELESS);
        }
        parts.push(part);
    }
    Ok(())
}

/// A call as servers write it that do not keep to the form: its fields beside `function`, its name left out, which is
/// said beside it. None when it says nothing at all.
fn mended(mut entry: CallEntry) -> Option<(CallEntry, bool)> {
    entry.kind.take_if(|kind| kind.is_empty());
    let plain = entry.kind.as_deref().is_none_or(|kind| kind == "function");
    if !plain || entry.custom.is_some() {
        return Some((entry, false));
    }
    if entry.function.is_none() {
        let mut taken = |key: &str| entry.rest.as_mut().and_then(|rest| rest.shift_remove(key));
        let name = taken("name").and_then(|name| name.as_str().map(str::to_owned));
        let arguments = taken("arguments").filter(|value| !value.is_null()).map(Json::from);
        taken("function");
        if name.is_none() && arguments.is_none() {
            return None;
        }
        entry.function = Some(FunctionCall { name, arguments, rest: None });
    }
    let name = &mut entry.function.as_mut()?.name;
    let nameless = name.as_ref().is_none_or(String::is_empty);
    if nameless {
        *name = Some(UNKNOWN_TOOL.to_owned());
    }
    Some((entry, nameless))
}

/// Gives log probabilities to the words they belong to; gives back what has none.
fn attach(mut logprobs: Logprobs, parts: &mut [Part]) -> Map {
    for part in parts {
        let list = match &part.body {
            PartBody::Text(_) => logprobs.content.take_if(|list| !list.is_empty()),
            PartBody::Refusal(_) => logprobs.refusal.take_if(|list| !list.is_empty()),
            PartBody::Thinking(_)
            | PartBody::Redacted(_)
            | PartBody::ToolCall(_)
            | PartBody::ToolResult(_)
            | PartBody::Media(_)
            | PartBody::Opaque(_) => None,
        };
        part.logprobs = list.map(usage::read_logprobs).unwrap_or_default();
    }
    logprobs.leftovers()
}

/// Writes a whole answer.
pub(super) struct Written;

impl WholeAnswer for Written {
    const ID: ProtocolId = ID;

    fn write(reply: Reply, reply_to: &ReplyTo, told: &mut Told) -> Vec<u8> {
        serde_json::to_vec(&write(&reply, reply_to, told)).unwrap_or_default()
    }

    fn fail(error: &ApiError) -> Vec<u8> {
        error::write(error).body
    }
}

fn write(reply: &Reply, reply_to: &ReplyTo, told: &mut Told) -> Answer {
    told.extras(ID, "", &reply.extras);
    told.extras(ID, "", &reply.end);
    let own = reply.extras.origin() == Some(ID) || reply.end.origin() == Some(ID);
    let kept = reply.extras.owned_by(ID);
    let said = |key: &str| kept.is_some_and(|kept| kept.contains_key(key));
    let mut choices = Vec::new();
    if !reply.end.marked(ID, NO_CHOICES) {
        choices.push(first_choice(reply, own, told));
    }
    let others = reply.end.get(ID, OTHERS);
    if others.is_some_and(Value::is_boolean) {
        let reason = "only the first choice of a stream becomes a whole answer; the others are left out";
        told.once("choices", reason);
    }
    let others = others.and_then(Value::as_array).into_iter().flatten();
    choices.extend(others.map(|other| Choice::default().with_rest(other.as_object())));
    if let Some(usage) = &reply.usage {
        told.extras(ID, "usage", &usage.extras);
    }
    let id = reply.id.clone().or_else(|| (!said("id")).then(|| format!("chatcmpl-{}", reply_to.seed)));
    let answer = Answer {
        id,
        object: (!said("object")).then(|| "chat.completion".to_owned()),
        created: (!said("created")).then(|| Number::from(reply_to.now)),
        model: reply_to
            .model
            .clone()
            .or_else(|| reply.model.clone())
            .or_else(|| (!said("model")).then(String::new)),
        choices: Some(choices),
        usage: reply.usage.as_ref().map(usage::write),
        ..Answer::default()
    };
    answer.with_rest(kept)
}

fn first_choice(reply: &Reply, own: bool, told: &mut Told) -> Choice {
    let mut losses = Vec::new();
    let mut turn = Turn { role: Some("assistant".to_owned()), ..Turn::default() };
    let path = "choices[0].message";
    let spoken =
        Spoken { parts: &reply.parts, list: reply.end.marked(ID, AS_ARRAY), cited: Cited::All, path };
    spoken.reasoning(true, &mut turn, &mut losses);
    spoken.words(&mut turn, &mut losses);
    let mut calls = Vec::new();
    for (at, part) in reply.parts.iter().enumerate() {
        citations::tell(told, &format!("parts[{at}]"), &part.extras);
        match &part.body {
            PartBody::ToolCall(call) if part.extras.marked(ID, LEGACY) => {
                turn.function_call = Some(messages_out::legacy(call, part));
            }
            PartBody::ToolCall(call) => calls.push(self::call(call, part)),
            PartBody::Opaque(opaque) if opaque.origin == ID && part.extras.marked(ID, IN_CALLS) => {
                calls.push(CallEntry::default().with_rest(opaque.value.as_object()));
            }
            PartBody::Text(_) | PartBody::Refusal(_) | PartBody::Thinking(_) if part.seal.is_some() => {
                told.once(format!("parts[{at}].seal"), "openai-chat has no signature here; left out");
            }
            PartBody::Text(_)
            | PartBody::Refusal(_)
            | PartBody::Thinking(_)
            | PartBody::Redacted(_)
            | PartBody::ToolResult(_)
            | PartBody::Media(_)
            | PartBody::Opaque(_) => {}
        }
    }
    losses.into_iter().for_each(|loss| told.once(loss.path, &loss.reason));
    let called = !calls.is_empty() || turn.function_call.is_some();
    turn.tool_calls = (!calls.is_empty()).then_some(OneOrMany(calls));
    messages_out::bare(&mut turn, &reply.end);
    let left = object_at(&reply.end, CHOICES);
    let inside = |key: &str| left.and_then(|left| left.get(key)).and_then(Value::as_object);
    let mut turn = turn.with_rest(inside("message"));
    if !own && turn.refusal.is_none() {
        turn.rest.get_or_insert_default().insert("refusal".to_owned(), Value::Null);
    }
    let word = usage::stop_word(&reply.stop, &reply.end, called, told).map(str::to_owned);
    let logprobs = logprobs(&reply.parts, inside("logprobs"));
    let mut rest: Map = left.cloned().unwrap_or_default();
    rest.retain(|key, _| {
        let elsewhere = matches!(key.as_str(), "message" | "delta");
        !(elsewhere || (key == "logprobs" && logprobs.is_some()))
    });
    if word.is_none() {
        rest.insert("finish_reason".to_owned(), Value::Null);
    }
    if !own && logprobs.is_none() {
        rest.insert("logprobs".to_owned(), Value::Null);
    }
    let index = (!rest.contains_key("index")).then_some(Count(0));
    Choice { index, message: Some(turn), logprobs, finish_reason: word, ..Choice::default() }
        .with_rest(Some(&rest))
}

fn call(call: &rail_model::ToolCall, part: &Part) -> CallEntry {
    let seal: Option<&Seal> = part.seal.as_ref();
    let mut entry = messages_out::call(call, part, id_for_client(&call.id, seal));
    if part.extras.marked(ID, NAMELESS) {
        entry.function.iter_mut().for_each(|function| function.name = Some(String::new()));
        entry.custom.iter_mut().for_each(|custom| custom.name = Some(String::new()));
    }
    if let Some(seal) = seal.filter(|seal| seal.issuer == GEMINI && part.extras.marked(ID, GOOGLE)) {
        entry.extra_content = Some(messages_out::with_signature(&part.extras, &seal.data));
    }
    entry
}

fn logprobs(parts: &[Part], kept: Option<&Map>) -> Option<Logprobs> {
    let of = |wanted: fn(&PartBody) -> bool| {
        let list = parts
            .iter()
            .filter(|part| wanted(&part.body))
            .flat_map(|part| usage::write_logprobs(&part.logprobs));
        let list: Vec<_> = list.collect();
        (!list.is_empty()).then_some(list)
    };
    let content = of(|body| matches!(body, PartBody::Text(_)));
    let refusal = of(|body| matches!(body, PartBody::Refusal(_)));
    let said = content.is_some() || refusal.is_some();
    said.then(|| Logprobs { content, refusal, rest: None }.with_rest(kept))
}
