//! A request as the API wants it.

use std::borrow::Cow;

use rail_model::{Format, Loss, Map, Request, ToolChoice, ToolDecl, ToolKind};
use serde_json::{Value, json};

use super::types::{Call, CustomTool, Function, JsonSchema, ResponseFormat, StreamOptions, Tool};
use super::{
    GEMINI, GOOGLE, ID, LEGACY, LEGACY_CHOICE, MAX_COMPLETION, NO_USAGE, ONE_STOP, RESPONSES, RULES,
    STREAM_FALSE, UNTYPED, USAGE, messages_out, object_at, request_in, thinking,
};
use crate::arguments;
use crate::fit::fit;
use crate::protocol::{Encoded, HttpCall, MaxTokensKey, TargetSpec};
use crate::shape::{Count, StrOr};

pub(super) fn encode(request: &Request, target: &TargetSpec) -> Encoded {
    let mut fitted = fit(request, &issuer_of(request, target), &RULES);
    let named = std::mem::take(&mut fitted.losses);
    let mut losses = Vec::new();
    let call = write(&fitted.request, target, &mut losses);
    fitted.at_origin(&mut losses);
    let call = post(serde_json::to_vec(&call).unwrap_or_default(), &fitted.request);
    Encoded { call, losses: [named, losses].concat(), restore: fitted.restore }
}

pub(super) fn post(body: Vec<u8>, request: &Request) -> HttpCall {
    let mut call = HttpCall::post("/chat/completions", body);
    if request.origin == Some(ID) {
        call.headers.extend(request.headers.iter().cloned());
    }
    call
}

/// A client of this protocol that sends Google's signatures back is talking to Google.
fn issuer_of<'a>(request: &Request, target: &'a TargetSpec) -> Cow<'a, TargetSpec> {
    let mut parts = request.messages.iter().flat_map(|message| &message.parts);
    if target.issuer.is_none() && parts.any(|part| part.extras.marked(ID, GOOGLE)) {
        return Cow::Owned(TargetSpec { issuer: Some(GEMINI.to_owned()), ..target.clone() });
    }
    Cow::Borrowed(target)
}

fn write(request: &Request, target: &TargetSpec, losses: &mut Vec<Loss>) -> Call {
    let own = request.origin == Some(ID);
    let sampling = &request.sampling;
    let mut call = Call {
        model: Some(target.model.clone()),
        messages: Some(messages_out::turns(request, target, losses)),
        parallel_tool_calls: request.parallel_tools.filter(|_| own || !request.tools.is_empty()),
        temperature: sampling.temperature.clone(),
        top_p: sampling.top_p.clone(),
        top_k: sampling.top_k.clone().filter(|_| own),
        frequency_penalty: sampling.frequency_penalty.clone(),
        presence_penalty: sampling.presence_penalty.clone(),
        seed: sampling.seed.clone(),
        stop: stop(request, own, losses),
        n: sampling.count.map(Count),
        // Rivals can only be asked for beside the probabilities themselves.
        logprobs: sampling.logprobs.or((!own && sampling.top_logprobs.is_some()).then_some(true)),
        top_logprobs: sampling.top_logprobs.map(Count),
        response_format: request.format.as_ref().and_then(|format| response_format(format, request)),
        user: request.user.clone(),
        stream: match request.stream {
            true => Some(true),
            false => request.extras.marked(ID, STREAM_FALSE).then_some(false),
        },
        ..Call::default()
    };
    call.rest = rest(request, losses).map(Box::new);
    thinking::encode(request, target, &mut call, losses);
    if sampling.top_k.is_some() && !own {
        losses.push(Loss::new("top_k", "openai-chat has no such setting; left out"));
    }
    limit(request, target, &mut call);
    tools(request, &mut call);
    call.stream_options = stream_options(request, target);
    call
}

/// The limit goes out as the client spelled it, unless the target insists.
fn limit(request: &Request, target: &TargetSpec, call: &mut Call) {
    let newer = match target.quirks.max_tokens_key {
        MaxTokensKey::MaxCompletionTokens => true,
        MaxTokensKey::MaxTokens => request.extras.marked(ID, MAX_COMPLETION),
    };
    let limit = request.sampling.max_output.map(Count);
    if newer {
        call.max_completion_tokens = limit;
    } else {
        call.max_tokens = limit;
    }
}

/// The API takes no more strings than these.
const MAX_STOP: usize = 4;

fn stop(request: &Request, own: bool, losses: &mut Vec<Loss>) -> Option<StrOr<String>> {
    match request.sampling.stop.as_slice() {
        [] => None,
        [one] if request.extras.marked(ID, ONE_STOP) => Some(StrOr::Str(one.clone())),
        [first @ .., _] if !own && first.len() >= MAX_STOP => {
            losses.push(Loss::new(
                "stop",
                format!("openai-chat takes {MAX_STOP} stop strings; the others are left out"),
            ));
            Some(StrOr::List(request.sampling.stop.iter().take(MAX_STOP).cloned().collect()))
        }
        list => Some(StrOr::List(list.to_vec())),
    }
}

fn tools(request: &Request, call: &mut Call) {
    let own = request.origin == Some(ID);
    // Tools that another provider runs were named and removed by `fit`.
    let foreign = |decl: &&ToolDecl| matches!(&decl.kind, ToolKind::Server(opaque) if opaque.origin != ID);
    let tools = request.tools.iter().filter(|decl| !foreign(decl));
    let (old, new): (Vec<_>, Vec<_>) = tools.partition(|decl| decl.extras.marked(ID, LEGACY));
    call.tools = (!new.is_empty()).then(|| new.into_iter().map(|decl| tool(decl, own)).collect());
    call.functions = (!old.is_empty()).then(|| {
        old.into_iter().map(|decl| function(decl, own).with_rest(decl.extras.owned_by(ID))).collect()
    });
    let Some(choice) = &request.tool_choice else { return };
    let legacy = request.extras.marked(ID, LEGACY_CHOICE);
    let kept = request.extras.get(ID, if legacy { "function_call" } else { "tool_choice" });
    let kept = kept.filter(|kept| request_in::read_choice(kept) == *choice).cloned();
    let value = kept.or_else(|| choice_value(choice, &request.tools, legacy));
    if legacy {
        call.function_call = value;
    } else {
        call.tool_choice = value;
    }
}

fn tool(decl: &ToolDecl, own: bool) -> Tool {
    let kind = |name: &str| (!decl.extras.marked(ID, UNTYPED)).then(|| name.to_owned());
    let tool = match &decl.kind {
        ToolKind::Server(opaque) => return Tool::default().with_rest(opaque.value.as_object()),
        ToolKind::Function { .. } => {
            let function = function(decl, own).with_rest(object_at(&decl.extras, "function"));
            Tool { kind: kind("function"), function: Some(function), ..Tool::default() }
        }
        ToolKind::Custom { format } => {
            let (name, description) = (Some(decl.name.clone()), decl.description.clone());
            let custom = CustomTool { name, description, format: format.clone(), rest: None };
            let custom = custom.with_rest(object_at(&decl.extras, "custom"));
            Tool { kind: kind("custom"), custom: Some(custom), ..Tool::default() }
        }
    };
    tool.with_rest(decl.extras.owned_by(ID))
}

fn function(decl: &ToolDecl, own: bool) -> Function {
    let parameters = match &decl.kind {
        ToolKind::Function { parameters: Some(schema) } if !own => Some(arguments::schema(Some(schema))),
        ToolKind::Function { parameters } => parameters.clone(),
        ToolKind::Custom { .. } | ToolKind::Server(_) => None,
    };
    Function {
        name: Some(decl.name.clone()),
        description: decl.description.clone(),
        parameters,
        strict: decl.strict,
        rest: None,
    }
}

/// A choice as JSON, in the new form or the old; None for a form of another protocol.
pub(super) fn choice_value(choice: &ToolChoice, tools: &[ToolDecl], legacy: bool) -> Option<Value> {
    let entry = |name: &str| {
        let custom =
            tools.iter().any(|decl| decl.name == name && matches!(decl.kind, ToolKind::Custom { .. }));
        if custom {
            json!({"type": "custom", "custom": {"name": name}})
        } else {
            json!({"type": "function", "function": {"name": name}})
        }
    };
    Some(match choice {
        ToolChoice::Auto => Value::from("auto"),
        ToolChoice::None => Value::from("none"),
        ToolChoice::Any => Value::from("required"),
        ToolChoice::Named(name) if legacy => json!({"name": name}),
        ToolChoice::Named(name) => entry(name),
        ToolChoice::Among { names, required } => {
            let tools: Vec<Value> = names.iter().map(|name| entry(name)).collect();
            let mode = if *required { "required" } else { "auto" };
            json!({"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": tools}})
        }
        ToolChoice::Opaque(opaque) if opaque.origin == ID => opaque.value.clone(),
        ToolChoice::Opaque(_) => return None,
    })
}

fn response_format(format: &Format, request: &Request) -> Option<ResponseFormat> {
    let kept = object_at(&request.extras, "response_format");
    let named = |name: &str| ResponseFormat { kind: Some(name.to_owned()), ..ResponseFormat::default() };
    let written = match format {
        Format::Text => named("text"),
        Format::JsonObject => named("json_object"),
        Format::JsonSchema { name, description, schema, strict } => {
            let usual = (request.origin != Some(ID)).then(|| "answer".to_owned());
            let schema = JsonSchema {
                name: name.clone().or(usual),
                description: description.clone(),
                schema: schema.clone(),
                strict: *strict,
                rest: None,
            };
            let kept = kept.and_then(|kept| kept.get("json_schema")).and_then(Value::as_object);
            ResponseFormat { json_schema: Some(schema.with_rest(kept)), ..named("json_schema") }
        }
        // Forms of other origins were named and removed by `fit`.
        Format::Opaque(opaque) if opaque.origin != ID => return None,
        Format::Opaque(opaque) => return Some(ResponseFormat::default().with_rest(opaque.value.as_object())),
    };
    Some(written.with_rest(kept))
}

/// Asks for usage in the stream; a client of this protocol has its own way, unless somebody counts for it.
fn stream_options(request: &Request, target: &TargetSpec) -> Option<StreamOptions> {
    let own = request.origin == Some(ID);
    let asked = match own {
        true if request.stream && target.count_usage => Some(true),
        true if request.extras.marked(ID, USAGE) => Some(true),
        true => request.extras.marked(ID, NO_USAGE).then_some(false),
        false => request.stream.then_some(true),
    };
    let kept = match own {
        true => object_at(&request.extras, "stream_options"),
        false => request
            .extras
            .get(RESPONSES, "stream_options")
            .and_then(Value::as_object)
            .filter(|_| request.stream),
    };
    let include_usage = asked.filter(|_| target.quirks.stream_usage);
    (include_usage.is_some() || kept.is_some())
        .then(|| StreamOptions { include_usage, rest: None }.with_rest(kept))
}

/// The kept fields of this protocol, or those that the vendor's other protocol shares with it.
fn rest(request: &Request, losses: &mut Vec<Loss>) -> Option<Map> {
    if let Some(kept) = request.extras.owned_by(ID) {
        return Some(kept.clone());
    }
    let theirs = request.extras.owned_by(RESPONSES)?;
    let shared = |key: &str| {
        RULES.carried.contains(&(RESPONSES.name(), key)) && key != "text" && key != "stream_options"
    };
    let mut shared: Map = theirs.iter().filter(|(key, _)| shared(key)).map(copy).collect();
    for (key, value) in theirs.get("text").and_then(Value::as_object).into_iter().flatten() {
        if key == "verbosity" {
            shared.insert(key.clone(), value.clone());
        } else {
            losses.push(Loss::new(format!("text.{key}"), "openai-chat can't say it; left out"));
        }
    }
    Some(shared)
}

fn copy((key, value): (&String, &Value)) -> (String, Value) {
    (key.clone(), value.clone())
}
