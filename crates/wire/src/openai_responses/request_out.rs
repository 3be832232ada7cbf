//! A request as the API takes it.

use rail_model::{Json, Loss, Map, Message, Part, PartBody, Request, Role, ToolResult};
use serde::Serialize;
use serde_json::Value;

use super::content::{self, Voice};
use super::item_out::{self, Class, Reader};
use super::types::Call;
use super::{
    AS_DEVELOPER, AS_STRING, AS_SYSTEM, CHAT, ENCRYPTED, ID, INCLUDE, INPUT_STRING, INSTRUCTIONS, ITEM,
    LOGPROBS_ASKED, NAME, NO_INPUT, NO_TYPE, RULES, SAME_ITEM, SEALED, kept_fields, object, options, tools,
};
use crate::fit::{Fitted, fit};
use crate::protocol::{Encoded, HttpCall, TargetSpec, ThinkingStyle};
use crate::shape::{Count, StrOr};

/// The least output the API lets a client ask for.
const LEAST_OUTPUT: u64 = 16;

/// Fields that Chat Completions and this API share: the same vendor means the same by them.
const SHARED: &[&str] = &[
    "metadata",
    "store",
    "service_tier",
    "safety_identifier",
    "prompt_cache_key",
    "prompt_cache_retention",
    "prompt_cache_options",
    "moderation",
];

/// Fields that a request for a token count has not.
const NOT_COUNTED: &[&str] = &[
    "background",
    "client_metadata",
    "context_management",
    "include",
    "max_output_tokens",
    "max_tool_calls",
    "metadata",
    "moderation",
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "safety_identifier",
    "service_tier",
    "store",
    "stream",
    "stream_options",
    "temperature",
    "top_logprobs",
    "top_p",
    "user",
];

pub(super) fn encode(request: &Request, target: &TargetSpec) -> Encoded {
    let (call, fitted, losses) = write(request, target);
    Encoded { call: http("/responses", &call, request), losses, restore: fitted.restore }
}

fn write(request: &Request, target: &TargetSpec) -> (Call, Fitted, Vec<Loss>) {
    let mut fitted = fit(request, target, &RULES);
    let named = std::mem::take(&mut fitted.losses);
    let mut losses = Vec::new();
    let call = body(&fitted.request, target, &mut losses);
    fitted.at_origin(&mut losses);
    (call, fitted, [named, losses].concat())
}

pub(super) fn encode_count(request: &Request, target: &TargetSpec) -> Encoded {
    let (call, fitted, losses) = write(request, target);
    let mut body = object(&call);
    body.retain(|key, _| !NOT_COUNTED.contains(&key.as_str()));
    Encoded { call: http("/responses/input_tokens", &body, request), losses, restore: fitted.restore }
}

fn http(path: &str, body: &impl Serialize, request: &Request) -> HttpCall {
    post(path, serde_json::to_vec(body).unwrap_or_default(), request)
}

pub(super) fn post(path: &str, body: Vec<u8>, request: &Request) -> HttpCall {
    let mut call = HttpCall::post(path, body);
    if request.origin == Some(ID) {
        call.headers.extend(request.headers.iter().cloned());
    }
    call
}

/// The body as the request says it; what is not allowed was taken out before.
pub(super) fn body(request: &Request, target: &TargetSpec, losses: &mut Vec<Loss>) -> Call {
    let mut call = beside_input(request, target, losses);
    input(request, target, &mut call, losses);
    whole(request, target, call, losses)
}

/// All that an answer may say of its request: the body without what was said.
pub(super) fn echo(request: &Request) -> Call {
    let (target, mut losses) = (TargetSpec::new(""), Vec::new());
    let mut call = beside_input(request, &target, &mut losses);
    call.instructions = system(&request.system, &mut Vec::new(), &mut losses);
    whole(request, &target, call, &mut losses)
}

fn beside_input(request: &Request, target: &TargetSpec, losses: &mut Vec<Loss>) -> Call {
    let own = request.origin == Some(ID);
    Call {
        model: (!target.model.is_empty()).then(|| target.model.clone()),
        parallel_tool_calls: request.parallel_tools.filter(|_| own || !request.tools.is_empty()),
        tools: tools::write_all(request),
        tool_choice: tools::write_choice(request, losses),
        reasoning: options::reasoning(request.thinking.as_ref(), target, own, losses),
        text: options::text(request, losses),
        max_output_tokens: request.sampling.max_output.map(Count),
        temperature: request.sampling.temperature.clone(),
        top_p: request.sampling.top_p.clone(),
        top_logprobs: request.sampling.top_logprobs.map(Count),
        user: request.user.clone(),
        stream: request.stream.then_some(true),
        ..Call::default()
    }
}

/// The body with what only this protocol says.
fn whole(request: &Request, target: &TargetSpec, call: Call, losses: &mut Vec<Loss>) -> Call {
    let kept: Map = kept_fields(&request.extras).collect();
    let mut call = call.with_rest(Some(&kept));
    if request.origin == Some(ID) {
        let include = request.extras.get(ID, INCLUDE).and_then(Value::as_array);
        call.include = include.cloned();
    } else {
        adapt(request, target, &mut call, losses);
    }
    call
}

/// What a request of another protocol needs here, and what of it can't be said.
fn adapt(request: &Request, target: &TargetSpec, call: &mut Call, losses: &mut Vec<Loss>) {
    shared(request, call);
    // Nothing is kept upstream, so reasoning must come sealed to be given back.
    if !call.rest.as_ref().is_some_and(|rest| rest.contains_key("store")) {
        call.store = Some(false);
    }
    let mut include = Vec::new();
    if target.thinking != ThinkingStyle::Never {
        include.push(Value::from(ENCRYPTED));
    }
    if request.sampling.logprobs == Some(true) {
        include.push(Value::from(LOGPROBS_ASKED));
    }
    call.include = Some(include).filter(|include| !include.is_empty());
    if let Some(Count(asked)) = call.max_output_tokens.filter(|count| count.0 < LEAST_OUTPUT) {
        losses.push(Loss::new(
            "max_output",
            format!("{asked} is below the least this API gives; {LEAST_OUTPUT}"),
        ));
        call.max_output_tokens = Some(Count(LEAST_OUTPUT));
    }
    let effort = call.reasoning.as_ref().and_then(|reasoning| reasoning.effort.as_deref());
    if effort.is_some_and(|effort| effort != "none") {
        for (name, slot) in [("temperature", &mut call.temperature), ("top_p", &mut call.top_p)] {
            let said = slot.take().filter(|number| number.as_f64() != Some(1.0));
            if said.is_some() {
                losses.push(Loss::new(name, "this API has no such setting while the model thinks; left out"));
            }
        }
    }
    let sampling = &request.sampling;
    let unsaid = [
        ("stop", !sampling.stop.is_empty()),
        ("seed", sampling.seed.is_some()),
        ("top_k", sampling.top_k.is_some()),
        ("frequency_penalty", sampling.frequency_penalty.as_ref().is_some_and(|n| n.as_f64() != Some(0.0))),
        ("presence_penalty", sampling.presence_penalty.as_ref().is_some_and(|n| n.as_f64() != Some(0.0))),
        ("n", sampling.count.is_some_and(|count| count > 1)),
    ];
    for (name, _) in unsaid.iter().filter(|(_, said)| *said) {
        losses.push(Loss::new(*name, "openai-responses has no such setting; left out"));
    }
}

/// Carries what Chat Completions says in the same words.
fn shared(request: &Request, call: &mut Call) {
    let Some(kept) = request.extras.owned_by(CHAT) else { return };
    for key in SHARED {
        if let Some(value) = kept.get(*key) {
            call.rest.get_or_insert_default().insert((*key).to_owned(), value.clone());
        }
    }
    if let Some(word) = kept.get("verbosity").and_then(Value::as_str) {
        call.text.get_or_insert_default().verbosity = Some(word.to_owned());
    }
}

fn input(request: &Request, target: &TargetSpec, call: &mut Call, losses: &mut Vec<Loss>) {
    let mut items = Vec::new();
    call.instructions = system(&request.system, &mut items, losses);
    if let ([message], true) = (request.messages.as_slice(), request.extras.marked(ID, INPUT_STRING))
        && items.is_empty()
        && message.role == Role::User
        && let [part] = message.parts.as_slice()
        && let Some(text) = part.as_text()
    {
        call.input = Some(StrOr::Str(text.to_owned()));
        return;
    }
    for (at, message) in request.messages.iter().enumerate() {
        turn(message, &format!("messages[{at}]"), target, &mut items, losses);
    }
    let said_otherwise = request.extras.marked(ID, NO_INPUT) || request.extras.get(ID, "input").is_some();
    if !(items.is_empty() && said_otherwise) {
        call.input =
            Some(StrOr::List(items.into_iter().map(|item| Json::from(Value::Object(item))).collect()));
    }
}

/// Instructions go back where they stood; those of other protocols become `instructions`.
fn system(parts: &[Part], items: &mut Vec<Map>, losses: &mut Vec<Loss>) -> Option<String> {
    let mut instructions: Option<String> = None;
    for group in parts.chunk_by(|_, next| next.extras.marked(ID, SAME_ITEM)) {
        let Some(first) = group.first() else { continue };
        let role = [(AS_SYSTEM, "system"), (AS_DEVELOPER, "developer")];
        let role = role.iter().find(|(mark, _)| first.extras.marked(ID, mark));
        if let Some((_, role)) = role {
            let untyped = first.extras.marked(ID, NO_TYPE);
            let text = first.as_text().filter(|_| first.extras.marked(ID, AS_STRING) && group.len() == 1);
            let content = text.map_or_else(|| contents(group, "system", losses), Value::from);
            items.push(message_item(item_out::fields(group), untyped, role, content));
            continue;
        }
        for part in group {
            match part.as_text() {
                Some(text) => match &mut instructions {
                    Some(all) if !part.extras.marked(ID, INSTRUCTIONS) => {
                        all.push_str("\n\n");
                        all.push_str(text);
                    }
                    Some(_) | None => instructions = Some(text.to_owned()),
                },
                None => losses.push(Loss::new("system", "instructions are text here; left out")),
            }
        }
    }
    instructions
}

fn message_item(fields: Map, untyped: bool, role: &str, content: Value) -> Map {
    let mut map = Map::new();
    if !untyped {
        map.insert("type".to_owned(), Value::from("message"));
    }
    map.insert("role".to_owned(), Value::from(role));
    map.insert("content".to_owned(), content);
    map.extend(fields);
    map
}

fn contents(parts: &[Part], path: &str, losses: &mut Vec<Loss>) -> Value {
    let write = |(at, part)| content::write(part, Voice::Input, &format!("{path}[{at}]"), losses);
    Value::Array(parts.iter().enumerate().filter_map(write).collect())
}

fn turn(message: &Message, path: &str, target: &TargetSpec, items: &mut Vec<Map>, losses: &mut Vec<Loss>) {
    let role = match message.role {
        Role::Assistant => return assistant(message, path, target, items, losses),
        Role::User | Role::Tool => "user",
        Role::System if message.extras.marked(ID, AS_SYSTEM) => "system",
        Role::System if message.extras.marked(ID, AS_DEVELOPER) || target.quirks.developer_role => {
            "developer"
        }
        Role::System => "system",
    };
    let mut rest = Vec::new();
    for (at, part) in message.parts.iter().enumerate() {
        match &part.body {
            PartBody::ToolResult(result) => {
                items.push(output(result, part, &format!("{path}.content[{at}]"), losses));
            }
            PartBody::Text(_)
            | PartBody::Refusal(_)
            | PartBody::Thinking(_)
            | PartBody::Redacted(_)
            | PartBody::ToolCall(_)
            | PartBody::Media(_)
            | PartBody::Opaque(_) => rest.push(part.clone()),
        }
    }
    if rest.is_empty() && (message.extras.is_empty() || !message.parts.is_empty()) {
        return;
    }
    let text = match rest.as_slice() {
        [part] if message.extras.marked(ID, AS_STRING) => part.as_text(),
        _ => None,
    };
    let content = text.map_or_else(|| contents(&rest, &format!("{path}.content"), losses), Value::from);
    let about = message.extras.get(ID, ITEM).and_then(Value::as_object).cloned();
    let mut fields = about.unwrap_or_default();
    fields.extend(kept_fields(&message.extras));
    items.push(message_item(fields, message.extras.marked(ID, NO_TYPE), role, content));
}

fn assistant(
    message: &Message,
    path: &str,
    target: &TargetSpec,
    items: &mut Vec<Map>,
    losses: &mut Vec<Loss>,
) {
    for group in item_out::groups(&message.parts) {
        let Some(first) = group.first() else { continue };
        if item_out::class(first) == Class::Reasoning && !may_return(group, target) {
            losses.push(Loss::new(path, "reasoning that this API did not seal; left out"));
            continue;
        }
        items.extend(item_out::item(group, Reader::Upstream, path, losses));
    }
}

/// Reasoning is only taken back by who sealed it, or by who kept it under its id.
pub(super) fn may_return(group: &[Part], target: &TargetSpec) -> bool {
    let mut seals = group.iter().filter_map(|part| match &part.body {
        PartBody::Redacted(seal) => Some(seal),
        PartBody::Thinking(_)
        | PartBody::Text(_)
        | PartBody::Refusal(_)
        | PartBody::ToolCall(_)
        | PartBody::ToolResult(_)
        | PartBody::Media(_)
        | PartBody::Opaque(_) => part.seal.as_ref(),
    });
    match seals.next() {
        Some(seal) => target.issued(ID, &seal.issuer),
        None if group.iter().any(|part| part.extras.marked(ID, SEALED)) => false,
        None => item_out::fields(group).contains_key("id"),
    }
}

fn output(result: &ToolResult, part: &Part, path: &str, losses: &mut Vec<Loss>) -> Map {
    let kind = match result.kind {
        rail_model::CallKind::Function => "function_call_output",
        rail_model::CallKind::Custom => "custom_tool_call_output",
    };
    let own = part.extras.origin() == Some(ID);
    let text = match result.content.as_slice() {
        [] if !own || part.extras.marked(ID, AS_STRING) => Some(""),
        [only] if !own || part.extras.marked(ID, AS_STRING) => {
            only.as_text().filter(|_| only.cache.is_none() || !own)
        }
        _ => None,
    };
    let content =
        text.map_or_else(|| contents(&result.content, &format!("{path}.content"), losses), Value::from);
    let mut map = Map::from_iter([("type".to_owned(), Value::from(kind))]);
    map.insert("call_id".to_owned(), Value::from(result.id.as_str()));
    map.insert("output".to_owned(), content);
    if let Some(name) = part.extras.get(ID, NAME) {
        map.insert("name".to_owned(), name.clone());
    }
    map.extend(part.extras.get(ID, ITEM).and_then(Value::as_object).cloned().unwrap_or_default());
    map.extend(kept_fields(&part.extras));
    map
}
