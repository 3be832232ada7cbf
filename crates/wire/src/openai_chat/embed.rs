//! Embeddings, both ways.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rail_model::{EmbedInput, EmbedReply, EmbedRequest, Extras, Json, Loss, Map};
use serde_json::{Number, Value};

use super::types::{EmbedAnswer, EmbedCall, Tokens, Vector};
use super::{FIELD, ID, missing, usage};
use crate::error::{WireError, parse};
use crate::protocol::{Encoded, HttpCall, HttpReply, ReplyTo, TargetSpec, VectorSpelling};
use crate::restore::Restore;
use crate::shape::Count;

/// Where kept fields of the single vectors stand in the extras.
const DATA: &str = "data";

pub(super) fn decode(http: &HttpCall) -> Result<EmbedRequest, WireError> {
    let mut call: EmbedCall = parse(ID, &http.body)?;
    let model = call.model.take().ok_or_else(|| missing("model"))?;
    let input = call.input.take().ok_or_else(|| missing("input"))?;
    let mut marks = Extras::NONE;
    let inputs = inputs(input, &mut marks)?;
    let dimensions = call.dimensions.take().map(|count| count.0);
    let user = call.user.take();
    let mut extras = Extras::rest(ID, call.leftovers());
    extras.merge(marks);
    Ok(EmbedRequest { model, inputs, dimensions, user, origin: Some(ID), extras, ..EmbedRequest::default() })
}

fn inputs(input: Value, marks: &mut Extras) -> Result<Vec<EmbedInput>, WireError> {
    let wrong = || WireError::malformed(ID, "input", "must be a string, strings, tokens or lists of tokens");
    let tokens =
        |list: &[Value]| list.iter().map(Value::as_u64).collect::<Option<Vec<_>>>().map(EmbedInput::Tokens);
    match input {
        Value::String(text) => {
            marks.mark(ID, FIELD);
            Ok(vec![EmbedInput::Text(text)])
        }
        Value::Array(list) if list.first().is_some_and(Value::is_number) => {
            marks.mark(ID, FIELD);
            Ok(vec![tokens(&list).ok_or_else(wrong)?])
        }
        Value::Array(list) => {
            let one = |(at, value): (usize, Value)| match value {
                Value::String(text) => Ok(EmbedInput::Text(text)),
                Value::Array(list) => tokens(&list).ok_or_else(wrong),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => Err(
                    WireError::malformed(ID, format!("input[{at}]"), "must be a string or a list of tokens"),
                ),
            };
            list.into_iter().enumerate().map(one).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => Err(wrong()),
    }
}

pub(super) fn encode(request: &EmbedRequest, target: &TargetSpec) -> Encoded {
    let value = |input: &EmbedInput| match input {
        EmbedInput::Text(text) => Value::from(text.as_str()),
        EmbedInput::Tokens(tokens) => Value::from(tokens.as_slice()),
    };
    let input = match request.inputs.as_slice() {
        [one] if request.extras.marked(ID, FIELD) => value(one),
        list => list.iter().map(value).collect(),
    };
    let call = EmbedCall {
        model: Some(target.model.clone()),
        input: Some(input),
        dimensions: request.dimensions.map(Count),
        user: request.user.clone(),
        rest: None,
    };
    let call = call.with_rest(request.extras.owned_by(ID));
    let said = [("task", request.task.is_some()), ("title", request.title.is_some())];
    let lost =
        said.into_iter().filter(|(_, said)| *said).map(|(name, _)| name).chain(request.extras.lost_on(ID));
    let losses = lost.map(|name| Loss::new(name, "openai-chat has no such setting; left out")).collect();
    let body = serde_json::to_vec(&call).unwrap_or_default();
    Encoded { call: HttpCall::post("/embeddings", body), losses, restore: Restore::default() }
}

pub(super) fn read(body: &[u8]) -> Result<EmbedReply, WireError> {
    let mut answer: EmbedAnswer = parse(ID, body)?;
    answer.object.take_if(|object| object == "list");
    let mut data = answer.data.take().ok_or_else(|| missing("data"))?;
    data.sort_by_key(|vector| vector.index.map(|index| index.0));
    let (mut vectors, mut kept) = (Vec::with_capacity(data.len()), Vec::with_capacity(data.len()));
    for (at, mut vector) in data.into_iter().enumerate() {
        let path = format!("data[{at}].embedding");
        let json = vector.embedding.take().ok_or_else(|| missing(&path))?;
        vectors
            .push(numbers(&json).ok_or_else(|| WireError::malformed(ID, path, "must be numbers or base64"))?);
        vector.object.take_if(|object| object == "embedding");
        vector.index.take_if(|index| index.0 == at as u64);
        kept.push(vector.leftovers());
    }
    let (model, usage) = (answer.model.take(), answer.usage.take().map(usage::read));
    let mut left = answer.leftovers();
    if kept.iter().any(|kept| !kept.is_empty()) {
        left.insert(DATA.to_owned(), kept.into_iter().map(Value::Object).collect());
    }
    Ok(EmbedReply { model, vectors, usage, extras: Extras::rest(ID, left) })
}

fn numbers(json: &Json) -> Option<Vec<Number>> {
    if let Ok(text) = serde_json::from_str::<String>(json.text()) {
        let bytes = STANDARD.decode(text).ok()?;
        let chunks = bytes.chunks_exact(4);
        let floats = chunks.map(|four| four.try_into().map(f32::from_le_bytes).ok());
        return floats.map(|float| spell(float?)).collect();
    }
    serde_json::from_str(json.text()).ok()
}

/// A float spelled as shortly as it can be and still be the same float.
fn spell(float: f32) -> Option<Number> {
    float.is_finite().then(|| float.to_string()).and_then(|text| text.parse().ok())
}

pub(super) fn write(reply: &EmbedReply, reply_to: &ReplyTo) -> HttpReply {
    let kept = reply.extras.get(ID, DATA).and_then(Value::as_array);
    let one = |(at, vector): (usize, &Vec<Number>)| {
        let kept: Option<&Map> = kept.and_then(|kept| kept.get(at)).and_then(Value::as_object);
        let said = |key: &str| kept.is_some_and(|kept| kept.contains_key(key));
        let written = Vector {
            object: (!said("object")).then(|| "embedding".to_owned()),
            index: (!said("index")).then_some(Count(at as u64)),
            embedding: Some(spelled(vector, reply_to.vectors)),
            rest: None,
        };
        written.with_rest(kept)
    };
    let usage = reply.usage.as_ref().map(|usage| Tokens { completion_tokens: None, ..usage::write(usage) });
    let answer = EmbedAnswer {
        object: Some("list".to_owned()),
        data: Some(reply.vectors.iter().enumerate().map(one).collect()),
        model: reply_to.model.clone().or_else(|| reply.model.clone()),
        usage: usage.or_else(|| Some(zeros())),
        rest: None,
    };
    let mut answer = answer.with_rest(reply.extras.owned_by(ID));
    if let Some(rest) = &mut answer.rest {
        rest.shift_remove(DATA);
    }
    HttpReply::json(200, serde_json::to_vec(&answer).unwrap_or_default())
}

/// Clients demand the counts.
fn zeros() -> Tokens {
    Tokens { prompt_tokens: Some(Count(0)), total_tokens: Some(Count(0)), ..Tokens::default() }
}

fn spelled(vector: &[Number], spelling: VectorSpelling) -> Json {
    Json::from(match spelling {
        VectorSpelling::Numbers => vector.iter().cloned().map(Value::Number).collect(),
        VectorSpelling::Base64 => {
            let floats = vector.iter().filter_map(|number| number.to_string().parse::<f32>().ok());
            Value::from(STANDARD.encode(floats.flat_map(f32::to_le_bytes).collect::<Vec<u8>>()))
        }
    })
}
