//! Embeddings, asked for and given, one by one or in a batch.

use rail_model::{EmbedInput, EmbedReply, EmbedRequest, Extras, Loss, Map};
use serde_json::{Number, Value};

use super::parts_in::keep;
use super::types::{Content, EmbedAnswer, EmbedCall, EmbedConfig, Many, Piece, Vector};
use super::{ID, MODEL_BARE, MODEL_IN_BODY, path, reply};
use crate::error::{WireError, parse};
use crate::protocol::{Encoded, HttpCall, HttpReply, TargetSpec};
use crate::shape::Count;

/// Asked for or given in a batch, or alone.
const BATCH: &str = "batch";
const SINGLE: &str = "single";
/// The settings stood in an object of their own.
const IN_CONFIG: &str = "in-config";
/// Where what each entry of a batch says besides is kept.
const REQUESTS: &str = "requests";
const EMBEDDINGS: &str = "embeddings";

pub(super) fn decode(http: &HttpCall) -> Result<EmbedRequest, WireError> {
    let mut call: EmbedCall<'_> = parse(ID, &http.body)?;
    let (model, _) = path::read(&http.path);
    let mut request = EmbedRequest { origin: Some(ID), ..EmbedRequest::default() };
    let mut extras = Extras::NONE;
    if let Some(entries) = call.requests.take() {
        extras.mark(ID, BATCH);
        batch(entries, model, &mut request, &mut extras)?;
    } else {
        let said = call.model.clone();
        request.model = model.or(said.map(bare)).unwrap_or_default();
        request.inputs = vec![input(&mut call, "")?];
        settings(&mut call, &mut request, &mut extras);
        if let Some(said) = call.model.take() {
            extras.mark(ID, if said.starts_with("models/") { MODEL_IN_BODY } else { MODEL_BARE });
        }
    }
    request.extras = Extras::rest(ID, call.leftovers());
    request.extras.merge(extras);
    Ok(request)
}

fn bare(model: String) -> String {
    model.strip_prefix("models/").map(str::to_owned).unwrap_or(model)
}

fn settings(call: &mut EmbedCall<'_>, request: &mut EmbedRequest, extras: &mut Extras) {
    request.task = call.task_type.take();
    request.title = call.title.take();
    request.dimensions = call.output_dimensionality.take().map(|count| count.0);
    let said = request.task.is_some() || request.title.is_some() || request.dimensions.is_some();
    if said {
        return;
    }
    if let Some(mut config) = call.config.take() {
        extras.mark(ID, IN_CONFIG);
        request.task = config.task_type.take();
        request.title = config.title.take();
        request.dimensions = config.output_dimensionality.take().map(|count| count.0);
        keep(extras, "embedContentConfig", config.leftovers());
    }
}

/// A setting of a batch counts for all only if all say it; else each keeps its own.
fn batch(
    entries: Vec<EmbedCall<'_>>,
    model: Option<String>,
    request: &mut EmbedRequest,
    extras: &mut Extras,
) -> Result<(), WireError> {
    let first = entries.first().cloned().unwrap_or_default();
    request.model = model.or_else(|| first.model.clone().map(bare)).unwrap_or_default();
    let resource = path::resource(&request.model);
    let same =
        |get: fn(&EmbedCall<'_>) -> Option<String>| entries.iter().all(|entry| get(entry) == get(&first));
    let dimensions = |entry: &EmbedCall<'_>| entry.output_dimensionality.map(|count| count.0.to_string());
    let (same_task, same_title, same_size) =
        (same(|entry| entry.task_type.clone()), same(|entry| entry.title.clone()), same(dimensions));
    request.task = first.task_type.clone().filter(|_| same_task);
    request.title = first.title.clone().filter(|_| same_title);
    request.dimensions = first.output_dimensionality.map(|count| count.0).filter(|_| same_size);
    let mut left = Vec::new();
    for (at, mut entry) in entries.into_iter().enumerate() {
        request.inputs.push(input(&mut entry, &format!("requests[{at}]"))?);
        entry.model.take_if(|model| *model == resource);
        entry.task_type.take_if(|_| same_task);
        entry.title.take_if(|_| same_title);
        entry.output_dimensionality.take_if(|_| same_size);
        left.push(entry.leftovers());
    }
    keep_each(extras, REQUESTS, left);
    Ok(())
}

fn keep_each(extras: &mut Extras, key: &str, left: Vec<Map>) {
    if left.iter().any(|left| !left.is_empty()) {
        extras.insert(ID, key, Value::Array(left.into_iter().map(Value::Object).collect()));
    }
}

/// The text to embed. Content that is more than one plain text is kept as it is, beside the text in it.
fn input(call: &mut EmbedCall<'_>, path: &str) -> Result<EmbedInput, WireError> {
    let content = call.content.take().ok_or_else(|| path::missing("content").under(path))?;
    let mut plain = content.clone();
    let pieces = plain.parts.take().map(Many::into_vec).unwrap_or_default();
    let texts: Vec<&str> = pieces.iter().filter_map(|piece| piece.text.as_deref()).collect();
    let text = texts.join("\n");
    let simple = match pieces.as_slice() {
        [only] => {
            let mut only = only.clone();
            only.text.take().is_some() && only.leftovers().is_empty() && plain.leftovers().is_empty()
        }
        _ => false,
    };
    if !simple || matches!(content.parts, Some(Many::One(_))) {
        call.content = Some(content);
    }
    Ok(EmbedInput::Text(text))
}

pub(super) fn encode(request: &EmbedRequest, target: &TargetSpec) -> Encoded {
    let mut losses = Vec::new();
    if request.user.is_some() {
        losses.push(Loss::new("user", "gemini has no field for the end user; left out"));
    }
    for key in request.extras.lost_on(ID) {
        losses.push(Loss::new(key, "gemini can't say it; left out"));
    }
    let batched = request.extras.marked(ID, BATCH) || request.inputs.len() != 1;
    let (verb, call) = if batched {
        ("batchEmbedContents", batch_out(request, target, &mut losses))
    } else {
        ("embedContent", single_out(request, target, &mut losses))
    };
    let body = serde_json::to_vec(&call).unwrap_or_default();
    Encoded {
        call: HttpCall::post(path::write(&target.model, verb), body),
        losses,
        restore: crate::restore::Restore::default(),
    }
}

fn single_out<'a>(request: &'a EmbedRequest, target: &TargetSpec, losses: &mut Vec<Loss>) -> EmbedCall<'a> {
    let kept = request.extras.owned_by(ID);
    let model = if request.extras.marked(ID, MODEL_IN_BODY) {
        Some(path::resource(&target.model))
    } else {
        request.extras.marked(ID, MODEL_BARE).then(|| target.model.clone())
    };
    let mut call = EmbedCall {
        model,
        content: request.inputs.first().map(|input| content(input, losses)),
        ..EmbedCall::default()
    };
    let (task, title, size) = (request.task.clone(), request.title.clone(), request.dimensions.map(Count));
    if request.extras.marked(ID, IN_CONFIG) {
        let config =
            EmbedConfig { task_type: task, title, output_dimensionality: size, ..EmbedConfig::default() };
        call.config = Some(
            config.with_rest(kept.and_then(|kept| kept.get("embedContentConfig")).and_then(Value::as_object)),
        );
    } else {
        (call.task_type, call.title, call.output_dimensionality) = (task, title, size);
    }
    if kept.is_some_and(|kept| kept.contains_key("content")) {
        call.content = None;
    }
    call.with_rest(kept)
}

fn batch_out<'a>(request: &'a EmbedRequest, target: &TargetSpec, losses: &mut Vec<Loss>) -> EmbedCall<'a> {
    let left = request.extras.get(ID, REQUESTS).and_then(Value::as_array);
    let mut entries = Vec::with_capacity(request.inputs.len());
    for (at, input) in request.inputs.iter().enumerate() {
        let left = left.and_then(|left| left.get(at)).and_then(Value::as_object);
        let own = |key: &str| left.is_some_and(|left| left.contains_key(key));
        let entry = EmbedCall {
            model: (!own("model")).then(|| path::resource(&target.model)),
            content: (!own("content")).then(|| content(input, losses)),
            task_type: request.task.clone(),
            title: request.title.clone(),
            output_dimensionality: request.dimensions.map(Count),
            ..EmbedCall::default()
        };
        entries.push(entry.with_rest(left));
    }
    let mut kept = request.extras.owned_by(ID).cloned().unwrap_or_default();
    kept.shift_remove(REQUESTS);
    EmbedCall { requests: Some(entries), ..EmbedCall::default() }.with_rest(Some(&kept))
}

fn content<'a>(input: &'a EmbedInput, losses: &mut Vec<Loss>) -> Content<'a> {
    let text = match input {
        EmbedInput::Text(text) => text.as_str(),
        EmbedInput::Tokens(_) => {
            losses
                .push(Loss::new("input", "gemini embeds text, not tokens of another tokenizer; left empty"));
            ""
        }
    };
    let piece = Piece { text: Some(text.into()), ..Piece::default() };
    Content { role: None, parts: Some(Many::List(vec![piece])), rest: None }
}

pub(super) fn read(body: &[u8]) -> Result<EmbedReply, WireError> {
    let mut answer: EmbedAnswer = parse(ID, body)?;
    let mut extras = Extras::NONE;
    let list = match (answer.embeddings.take(), answer.embedding.take()) {
        (Some(list), single) => {
            answer.embedding = single;
            extras.mark(ID, BATCH);
            list
        }
        (None, Some(one)) => {
            extras.mark(ID, SINGLE);
            vec![one]
        }
        (None, None) => return Err(path::missing("embeddings")),
    };
    let usage =
        answer.usage_metadata.take().map(|tokens| reply::usage(tokens, &mut reply::Details::default()));
    let mut left = Vec::with_capacity(list.len());
    let mut vectors: Vec<Vec<Number>> = Vec::with_capacity(list.len());
    for mut vector in list {
        vectors.push(vector.values.take().unwrap_or_default());
        left.push(vector.leftovers());
    }
    keep_each(&mut extras, EMBEDDINGS, left);
    let mut kept = Extras::rest(ID, answer.leftovers());
    kept.merge(extras);
    Ok(EmbedReply { model: None, vectors, usage, extras: kept })
}

pub(super) fn write(reply: &EmbedReply) -> HttpReply {
    let left = reply.extras.get(ID, EMBEDDINGS).and_then(Value::as_array);
    let vectors = reply.vectors.iter().enumerate().map(|(at, values)| {
        let left = left.and_then(|left| left.get(at)).and_then(Value::as_object);
        Vector { values: Some(values.clone()), rest: None }.with_rest(left)
    });
    let vectors: Vec<Vector> = vectors.collect();
    let single = reply.extras.marked(ID, SINGLE);
    // Whether one vector was asked for alone or in a batch is not known here; each caller reads its own key.
    let alone = (single || (!reply.extras.marked(ID, BATCH) && vectors.len() == 1))
        .then(|| vectors.first().cloned())
        .flatten();
    let mut kept = reply.extras.owned_by(ID).cloned().unwrap_or_default();
    kept.shift_remove(EMBEDDINGS);
    let answer = EmbedAnswer {
        embedding: alone,
        embeddings: (!single).then_some(vectors),
        usage_metadata: reply.usage.as_ref().map(reply::tokens),
        rest: None,
    };
    HttpReply::json(200, serde_json::to_vec(&answer.with_rest(Some(&kept))).unwrap_or_default())
}
