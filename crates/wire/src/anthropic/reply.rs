//! Whole answers, both ways, and what streams share with them.

use rail_model::{
    ApiError, Event, Extras, Map, Part, PartBody, ProtocolId, Reply, Seal, Stop, TokenCount, Usage,
};
use serde_json::Value;

use super::types::{Answer, Block, CountAnswer, TokenDetails, Tokens};
use super::{AS_COUNTED, DELTA, FRAME, ID, LAST, error, request_in, request_out};
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
    if answer.kind.as_deref() == Some("error") {
        let reply = HttpReply { body: data.to_vec(), ..HttpReply::default() };
        out.push(Event::Failed(error::read(&reply)));
        return Ok(());
    }
    out.extend(read(answer)?.into_events());
    Ok(())
}

fn read(mut answer: Answer) -> Result<Reply, WireError> {
    let blocks = answer.content.take().ok_or_else(|| WireError::malformed(ID, "content", "is missing"))?;
    let parts =
        blocks.into_iter().enumerate().map(|(at, block)| from_upstream(block, &format!("content[{at}]")));
    let parts = parts.collect::<Result<_, _>>()?;
    let (stop, end) = stop(answer.stop_reason.take().as_deref(), answer.stop_sequence.take().as_deref());
    let usage = answer.usage.take().map(usage);
    let (id, model, extras) = head(answer);
    Ok(Reply { id, model, parts, stop, usage, extras, end })
}

/// A block of an answer: like one of a request, but its ids and signatures are the upstream's own.
pub(super) fn from_upstream(mut block: Block, path: &str) -> Result<Part, WireError> {
    let id = block.id.clone();
    if block.kind.as_deref() == Some("tool_use") {
        // Some servers leave out the id or the input of a call.
        block.id.get_or_insert_default();
        block.input.get_or_insert_with(crate::arguments::empty);
    }
    let thinking = block.kind.as_deref() == Some("thinking");
    let signature = block.signature.take_if(|signature| thinking && !signature.is_empty());
    let mut part = request_in::part(block, path)?;
    if let Some(data) = signature {
        part.seal = Some(Seal { issuer: ID.name().to_owned(), data });
    }
    if let (PartBody::ToolCall(call), Some(id)) = (&mut part.body, id) {
        call.id = rail_model::CallId::Given(id);
        part.seal = None;
    }
    Ok(part)
}

/// Id, model and the rest of an answer's head.
pub(super) fn head(mut answer: Answer) -> (Option<String>, Option<String>, Extras) {
    answer.kind.take_if(|kind| kind == "message");
    answer.role.take_if(|role| role == "assistant");
    (answer.id.take(), answer.model.take(), Extras::rest(ID, answer.leftovers()))
}

/// Why it stopped; a word we do not know is kept for its own protocol.
pub(super) fn stop(reason: Option<&str>, sequence: Option<&str>) -> (Stop, Extras) {
    let mut end = Extras::NONE;
    let stop = match reason {
        Some("end_turn") | None => Stop::EndTurn,
        Some("max_tokens") => Stop::MaxTokens,
        Some("stop_sequence") => Stop::StopSequence(sequence.map(str::to_owned)),
        Some("tool_use") => Stop::ToolUse,
        Some("pause_turn") => Stop::Pause,
        Some("refusal") => Stop::Refusal,
        Some("model_context_window_exceeded") => Stop::ContextFull,
        Some(other) => {
            end.insert(ID, "stop_reason", Value::from(other));
            Stop::Other(other.to_owned())
        }
    };
    if reason.is_none() {
        end.insert(ID, "stop_reason", Value::Null);
    }
    (stop, end)
}

/// The protocol's word, and the stop string if that was it.
pub(super) fn stop_word<'a>(
    stop: &'a Stop,
    end: &'a Extras,
    called: bool,
    told: &mut Told,
) -> (Option<&'a str>, Option<&'a str>) {
    if let Some(word) = end.get(ID, "stop_reason") {
        return (word.as_str(), None);
    }
    let word = match stop {
        // A call is a call, whatever the upstream says; and without one the client has nothing to run.
        Stop::EndTurn | Stop::ToolUse if called => "tool_use",
        Stop::EndTurn | Stop::ToolUse => "end_turn",
        Stop::MaxTokens => "max_tokens",
        Stop::StopSequence(sequence) => return (Some("stop_sequence"), sequence.as_deref()),
        Stop::Refusal => "refusal",
        Stop::Pause => "pause_turn",
        Stop::ContextFull => "model_context_window_exceeded",
        Stop::MalformedCall | Stop::Other(_) if called => {
            told.once("stop_reason", "anthropic has no such reason; said as tool_use");
            "tool_use"
        }
        Stop::MalformedCall | Stop::Other(_) => {
            told.once("stop_reason", "anthropic has no such reason; said as end_turn");
            "end_turn"
        }
    };
    (Some(word), None)
}

pub(super) fn usage(mut tokens: Tokens) -> Usage {
    let reasoning = tokens.output_tokens_details.as_mut().and_then(|details| details.thinking_tokens.take());
    let all = tokens.output_tokens.take();
    let mut usage = Usage {
        input: tokens.input_tokens.take().map(|count| count.0),
        cache_read: tokens.cache_read_input_tokens.take().map(|count| count.0),
        cache_write: tokens.cache_creation_input_tokens.take().map(|count| count.0),
        output: all.map(|all| all.0.saturating_sub(reasoning.map_or(0, |count| count.0))),
        reasoning: reasoning.map(|count| count.0),
        extras: Extras::rest(ID, tokens.leftovers()),
    };
    usage.extras.mark(ID, AS_COUNTED);
    usage
}

/// Usage as the protocol counts: output includes thinking. A foreign answer gets zeros where the client's library wants numbers.
pub(super) fn tokens(usage: &Usage, complete: bool) -> Tokens {
    let own = usage.extras.origin() == Some(ID);
    let fill = |count: Option<u64>| count.or((complete && !own).then_some(0)).map(Count);
    let kept = usage.extras.get(ID, "output_tokens_details").and_then(Value::as_object);
    let details = usage
        .reasoning
        .map(|count| TokenDetails { thinking_tokens: Some(Count(count)), rest: None }.with_rest(kept));
    let output = usage.output.or(usage.reasoning).map(|_| usage.all_output());
    Tokens {
        input_tokens: usage.input.or(complete.then_some(0)).map(Count),
        cache_creation_input_tokens: fill(usage.cache_write),
        cache_read_input_tokens: fill(usage.cache_read),
        output_tokens: output.or(Some(0)).map(Count),
        output_tokens_details: details,
        rest: None,
    }
    .with_rest(usage.extras.owned_by(ID))
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
    let mut called = false;
    let mut content = Vec::with_capacity(reply.parts.len());
    for (at, part) in reply.parts.iter().enumerate() {
        told.extras(ID, &format!("content[{at}]"), &part.extras);
        if is_blank(part) {
            continue;
        }
        if let Some(block) = to_client(part, at, told) {
            called |= matches!(part.body, PartBody::ToolCall(_));
            content.push(block);
        }
    }
    let (stop_reason, stop_sequence) = stop_word(&reply.stop, &reply.end, called, told);
    let usage = reply.usage.clone().unwrap_or_default();
    told.extras(ID, "usage", &usage.extras);
    let mut answer = Answer {
        content: Some(content),
        stop_reason: stop_reason.map(str::to_owned),
        stop_sequence: stop_sequence.map(str::to_owned),
        usage: Some(tokens(&usage, true)),
        ..head_out(reply.id.as_deref(), reply.model.as_deref(), &reply.extras, reply_to)
    };
    let rest = answer.rest.get_or_insert_default();
    for (key, value) in reply.end.owned_by(ID).into_iter().flatten() {
        match value.as_object().filter(|_| key == DELTA || key == LAST) {
            Some(nested) => rest.extend(nested.clone()),
            None => {
                rest.insert(key.clone(), value.clone());
            }
        }
    }
    for key in ["stop_reason", "stop_sequence"] {
        rest.entry(key).or_insert(Value::Null);
    }
    answer
}

/// An empty text or thought of another protocol says nothing; as a block it would be illegal to send back.
fn is_blank(part: &Part) -> bool {
    let empty = match &part.body {
        PartBody::Text(text) | PartBody::Refusal(text) | PartBody::Thinking(text) => text.is_empty(),
        PartBody::Redacted(_)
        | PartBody::ToolCall(_)
        | PartBody::ToolResult(_)
        | PartBody::Media(_)
        | PartBody::Opaque(_) => false,
    };
    empty && part.seal.is_none() && part.extras.origin() != Some(ID)
}

/// A block for a client: foreign seals travel in the signature or in the call's id.
pub(super) fn to_client(part: &Part, at: usize, told: &mut Told) -> Option<Block> {
    let path = format!("content[{at}]");
    let mut losses = Vec::new();
    let foreign = |origin: ProtocolId| origin != ID;
    match &part.body {
        PartBody::Opaque(opaque) if foreign(opaque.origin) => {
            told.once(path, "a block of another protocol; left out");
            return None;
        }
        PartBody::Media(_) => {
            told.once(path, "anthropic answers hold no media; left out");
            return None;
        }
        PartBody::Refusal(_) => told.once(path.as_str(), "anthropic has no refusal part; said as text"),
        PartBody::Text(_)
        | PartBody::Thinking(_)
        | PartBody::Redacted(_)
        | PartBody::ToolCall(_)
        | PartBody::ToolResult(_)
        | PartBody::Opaque(_) => {}
    }
    if !part.logprobs.is_empty() {
        told.once("logprobs", "anthropic has no log probabilities; left out");
    }
    let mut block = request_out::block(part, &path, &mut losses)?;
    match (&part.body, &part.seal) {
        (PartBody::Thinking(_), Some(seal)) => block.signature = Some(ids::fold_seal(seal, ID.name())),
        // Clients demand the field; without a seal it is empty and the block is not sent back upstream.
        (PartBody::Thinking(_), None) => block.signature = Some(String::new()),
        (PartBody::Redacted(seal), _) => block.data = Some(ids::fold_seal(seal, ID.name())),
        (PartBody::ToolCall(call), seal) => block.id = Some(ids::fold(&call.id, seal.as_ref())),
        (PartBody::Text(_) | PartBody::Refusal(_), Some(_)) => {
            told.once(format!("{path}.seal"), "anthropic has no signature on text; left out")
        }
        (
            PartBody::Text(_)
            | PartBody::Refusal(_)
            | PartBody::ToolResult(_)
            | PartBody::Media(_)
            | PartBody::Opaque(_),
            _,
        ) => {}
    }
    losses.into_iter().for_each(|loss| told.once(loss.path, &loss.reason));
    Some(block)
}

/// The head of an answer as the client sees it.
pub(super) fn head_out(id: Option<&str>, model: Option<&str>, extras: &Extras, reply_to: &ReplyTo) -> Answer {
    let model = reply_to.model.as_deref().or(model).unwrap_or_default();
    let kept = extras.owned_by(ID);
    let own = |key: &str| kept.is_some_and(|kept| kept.contains_key(key));
    let mut answer = Answer {
        id: id.map(str::to_owned).or_else(|| (!own("id")).then(|| format!("msg_{}", reply_to.seed))),
        kind: (!own("type")).then(|| "message".to_owned()),
        role: (!own("role")).then(|| "assistant".to_owned()),
        model: (!own("model")).then(|| model.to_owned()),
        ..Answer::default()
    }
    .with_rest(kept);
    answer.rest.as_mut().and_then(|rest| rest.shift_remove(FRAME));
    answer
}

pub(super) fn read_count(body: &[u8]) -> Result<TokenCount, WireError> {
    let mut answer: CountAnswer = parse(ID, body)?;
    let input =
        answer.input_tokens.take().ok_or_else(|| WireError::malformed(ID, "input_tokens", "is missing"))?;
    Ok(TokenCount { input: input.0, cached: None, extras: Extras::rest(ID, answer.leftovers()) })
}

pub(super) fn write_count(count: &TokenCount) -> HttpReply {
    let answer = CountAnswer { input_tokens: Some(Count(count.input)), rest: None };
    let kept: Option<&Map> = count.extras.owned_by(ID);
    HttpReply::json(200, serde_json::to_vec(&answer.with_rest(kept)).unwrap_or_default())
}
