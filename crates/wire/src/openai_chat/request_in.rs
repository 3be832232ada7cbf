//! A request as a client sends it.

use rail_model::{Extras, Format, Opaque, Request, Sampling, ToolChoice, ToolDecl, ToolKind};
use serde_json::Value;

use super::types::{Call, Function, ResponseFormat, Tool};
use super::{
    ID, LEGACY, LEGACY_CHOICE, MAX_COMPLETION, NO_USAGE, ONE_STOP, STREAM_FALSE, UNTYPED, USAGE, messages_in,
    missing, nest, request_out, thinking,
};
use crate::error::{WireError, parse};
use crate::protocol::HttpCall;
use crate::shape::StrOr;

/// Headers that change what the body means; all others are about the account or the connection.
const OWN_HEADERS: &[&str] = &["openai-beta"];

pub(super) fn decode(http: &HttpCall) -> Result<Request, WireError> {
    let mut call: Call = parse(ID, &http.body)?;
    let model = call.model.take().ok_or_else(|| missing("model"))?;
    let turns = call.messages.take().ok_or_else(|| missing("messages"))?;
    let (system, messages) = messages_in::conversation(turns)?;
    let mut marks = Extras::NONE;
    let mut request = Request {
        model,
        system,
        messages,
        sampling: sampling(&mut call, &mut marks),
        parallel_tools: call.parallel_tool_calls.take(),
        stream: stream(&mut call, &mut marks),
        user: call.user.take(),
        origin: Some(ID),
        headers: http
            .headers
            .iter()
            .filter(|(name, _)| OWN_HEADERS.contains(&name.as_str()))
            .cloned()
            .collect(),
        ..Request::default()
    };
    tools(&mut call, &mut request)?;
    choice(&mut call, &mut request, &mut marks);
    request.thinking = thinking::decode(&mut call);
    format(&mut call, &mut request, &mut marks);
    request.extras = Extras::rest(ID, call.leftovers());
    request.extras.merge(marks);
    Ok(request)
}

/// Whether a stream is wanted, and with usage in it; both have one word in all protocols, so only the spelling is kept.
fn stream(call: &mut Call, marks: &mut Extras) -> bool {
    if let Some(mut options) = call.stream_options.take() {
        match options.include_usage.take() {
            Some(true) => marks.mark(ID, USAGE),
            Some(false) => marks.mark(ID, NO_USAGE),
            None => call.stream_options = Some(options.clone()),
        }
        if options.rest.is_some() {
            call.stream_options = Some(options);
        }
    }
    let stream = call.stream.take();
    if stream == Some(false) {
        marks.mark(ID, STREAM_FALSE);
    }
    stream == Some(true)
}

fn sampling(call: &mut Call, marks: &mut Extras) -> Sampling {
    let newer = call.max_completion_tokens.take();
    if newer.is_some() {
        marks.mark(ID, MAX_COMPLETION);
    }
    let max_output = newer.or_else(|| call.max_tokens.take()).map(|count| count.0);
    let stop = match call.stop.take() {
        Some(StrOr::Str(one)) => {
            marks.mark(ID, ONE_STOP);
            vec![one]
        }
        Some(StrOr::List(list)) if list.is_empty() => {
            call.stop = Some(StrOr::List(list));
            Vec::new()
        }
        Some(StrOr::List(list)) => list,
        None => Vec::new(),
    };
    Sampling {
        max_output,
        temperature: call.temperature.take(),
        top_p: call.top_p.take(),
        top_k: call.top_k.take(),
        stop,
        seed: call.seed.take(),
        frequency_penalty: call.frequency_penalty.take(),
        presence_penalty: call.presence_penalty.take(),
        count: call.n.take().map(|count| count.0),
        logprobs: call.logprobs.take(),
        top_logprobs: call.top_logprobs.take().map(|count| count.0),
    }
}

fn tools(call: &mut Call, request: &mut Request) -> Result<(), WireError> {
    for (at, tool) in call.tools.take_if(|tools| !tools.is_empty()).into_iter().flatten().enumerate() {
        request.tools.push(self::tool(tool).map_err(|error| error.under(&format!("tools[{at}]")))?);
    }
    for (at, function) in call.functions.take_if(|tools| !tools.is_empty()).into_iter().flatten().enumerate()
    {
        let mut decl = self::function(function, |extras, left| *extras = Extras::rest(ID, left))
            .map_err(|error| error.under(&format!("functions[{at}]")))?;
        decl.extras.mark(ID, LEGACY);
        request.tools.push(decl);
    }
    Ok(())
}

fn tool(mut tool: Tool) -> Result<ToolDecl, WireError> {
    let kind = tool.kind.take();
    let mut decl = match (kind.as_deref(), tool.function.take(), tool.custom.take()) {
        (Some("function") | None, Some(function), custom) => {
            tool.custom = custom;
            self::function(function, |extras, left| nest(extras, "function", left))
                .map_err(|error| error.under("function"))?
        }
        (Some("custom"), function, Some(mut custom)) => {
            tool.function = function;
            let name = custom.name.take().ok_or_else(|| missing("custom.name"))?;
            let description = custom.description.take();
            let kind = ToolKind::Custom { format: custom.format.take() };
            let mut extras = Extras::NONE;
            nest(&mut extras, "custom", custom.leftovers());
            ToolDecl { name, description, kind, strict: None, cache: None, extras }
        }
        (Some("function") | None, None, _) => return Err(missing("function")),
        (Some("custom"), _, None) => return Err(missing("custom")),
        (Some(other), function, custom) => {
            let name = other.to_owned();
            (tool.kind, tool.function, tool.custom) = (kind, function, custom);
            let kind = ToolKind::Server(Opaque { origin: ID, value: Value::Object(tool.leftovers()) });
            return Ok(ToolDecl {
                name,
                description: None,
                kind,
                strict: None,
                cache: None,
                extras: Extras::NONE,
            });
        }
    };
    if kind.is_none() {
        decl.extras.mark(ID, UNTYPED);
    }
    let mut extras = Extras::rest(ID, tool.leftovers());
    extras.merge(std::mem::take(&mut decl.extras));
    Ok(ToolDecl { extras, ..decl })
}

fn function(
    mut function: Function,
    keep: impl FnOnce(&mut Extras, rail_model::Map),
) -> Result<ToolDecl, WireError> {
    let name = function.name.take().ok_or_else(|| missing("name"))?;
    let description = function.description.take();
    let strict = function.strict.take();
    let kind = ToolKind::Function { parameters: function.parameters.take() };
    let mut extras = Extras::NONE;
    keep(&mut extras, function.leftovers());
    Ok(ToolDecl { name, description, kind, strict, cache: None, extras })
}

fn choice(call: &mut Call, request: &mut Request, marks: &mut Extras) {
    let said = match (call.tool_choice.take(), call.function_call.take()) {
        (Some(said), legacy) => {
            call.function_call = legacy;
            said
        }
        (None, Some(legacy)) => {
            marks.mark(ID, LEGACY_CHOICE);
            legacy
        }
        (None, None) => return,
    };
    let choice = read_choice(&said);
    let legacy = marks.marked(ID, LEGACY_CHOICE);
    // What our own writing would not give back in the same words is kept beside its meaning.
    if request_out::choice_value(&choice, &request.tools, legacy).as_ref() != Some(&said) {
        marks.insert(ID, if legacy { "function_call" } else { "tool_choice" }, said);
    }
    request.tool_choice = Some(choice);
}

/// Reads a choice, in the new form or the old.
pub(super) fn read_choice(said: &Value) -> ToolChoice {
    let name = |value: &Value| {
        let names = ["/function/name", "/custom/name", "/name"].iter().find_map(|path| value.pointer(path));
        names.and_then(Value::as_str).map(str::to_owned)
    };
    let opaque = || ToolChoice::Opaque(Opaque { origin: ID, value: said.clone() });
    match (said.as_str(), said.get("type").and_then(Value::as_str)) {
        (Some("auto"), _) => ToolChoice::Auto,
        (Some("none"), _) => ToolChoice::None,
        (Some("required"), _) => ToolChoice::Any,
        (None, Some("function" | "custom") | None) => name(said).map_or_else(opaque, ToolChoice::Named),
        (None, Some("allowed_tools")) => {
            let tools = said.pointer("/allowed_tools/tools").and_then(Value::as_array);
            let names = tools.and_then(|tools| tools.iter().map(name).collect::<Option<Vec<_>>>());
            let mode = said.pointer("/allowed_tools/mode").and_then(Value::as_str);
            match (names, mode) {
                (Some(names), Some("auto")) => ToolChoice::Among { names, required: false },
                (Some(names), Some("required")) => ToolChoice::Among { names, required: true },
                (_, _) => opaque(),
            }
        }
        (_, _) => opaque(),
    }
}

fn format(call: &mut Call, request: &mut Request, marks: &mut Extras) {
    let Some(mut said) = call.response_format.take() else { return };
    let format = match said.kind.as_deref() {
        Some("text") => Format::Text,
        Some("json_object") => Format::JsonObject,
        Some("json_schema") => match said.json_schema.as_mut() {
            Some(schema) => Format::JsonSchema {
                name: schema.name.take(),
                description: schema.description.take(),
                schema: schema.schema.take(),
                strict: schema.strict.take(),
            },
            None => return opaque_format(said, request),
        },
        Some(_) | None => return opaque_format(said, request),
    };
    said.kind = None;
    let schema = said.json_schema.take().map(|schema| schema.leftovers()).filter(|left| !left.is_empty());
    let mut left = said.leftovers();
    left.extend(schema.map(|schema| ("json_schema".to_owned(), Value::Object(schema))));
    nest(marks, "response_format", left);
    request.format = Some(format);
}

fn opaque_format(said: ResponseFormat, request: &mut Request) {
    let value = Value::Object(said.leftovers());
    request.format = Some(Format::Opaque(Opaque { origin: ID, value }));
}
