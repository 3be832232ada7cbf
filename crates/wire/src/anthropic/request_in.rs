//! A request as a client sends it.

use rail_model::{
    CacheMark, CallKind, Effort, Extras, Format, Json, Map, Media, MediaKind, MediaSource, Message, Opaque,
    Part, PartBody, Request, Role, Sampling, Thinking, ThinkingMode, ToolCall, ToolChoice, ToolDecl,
    ToolKind, ToolResult,
};
use serde_json::Value;

use super::inner::Inner;
use super::types::{Block, CacheControl, Call, Choice, Source, ThinkingConfig, Tool, Turn};
use super::{AS_BASE64, AS_CUSTOM, AS_STRING, ID, NO_CONTENT};
use crate::error::{WireError, parse, parse_at};
use crate::ids;
use crate::protocol::HttpCall;
use crate::shape::StrOr;

pub(super) fn decode(http: &HttpCall) -> Result<Request, WireError> {
    let mut call: Call = parse(ID, &http.body)?;
    let mut request = Request {
        model: call.model.take().ok_or_else(|| missing("model"))?,
        system: system(call.system.take(), &mut call)?,
        messages: call
            .messages
            .take()
            .ok_or_else(|| missing("messages"))?
            .into_iter()
            .enumerate()
            .map(message)
            .collect::<Result<_, _>>()?,
        stream: call.stream.take_if(|stream| *stream).is_some(),
        user: call.metadata.as_mut().and_then(|metadata| metadata.user_id.take()),
        origin: Some(ID),
        headers: http.headers.iter().filter(|(name, _)| name.starts_with("anthropic-")).cloned().collect(),
        sampling: sampling(&mut call),
        ..Request::default()
    };
    if let Some(tools) = call.tools.take_if(|tools| !tools.is_empty()) {
        request.tools = tools.into_iter().enumerate().map(tool).collect::<Result<_, _>>()?;
    }
    choice(&mut call, &mut request)?;
    thinking(&mut call, &mut request);
    format(&mut call, &mut request);
    let marks = request.extras;
    request.extras = Extras::rest(ID, call.leftovers());
    request.extras.merge(marks);
    Ok(request)
}

fn missing(field: &str) -> WireError {
    WireError::malformed(ID, field, "is missing")
}

fn sampling(call: &mut Call) -> Sampling {
    Sampling {
        max_output: call.max_tokens.take().map(|count| count.0),
        temperature: call.temperature.take(),
        top_p: call.top_p.take(),
        top_k: call.top_k.take(),
        stop: call.stop_sequences.take_if(|stop| !stop.is_empty()).unwrap_or_default(),
        ..Sampling::default()
    }
}

fn system(system: Option<StrOr<Block>>, call: &mut Call) -> Result<Vec<Part>, WireError> {
    match system {
        None => Ok(Vec::new()),
        Some(StrOr::Str(text)) => Ok(vec![string_part(text)]),
        Some(StrOr::List(blocks)) => {
            if blocks.is_empty() {
                call.system = Some(StrOr::List(blocks));
                return Ok(Vec::new());
            }
            blocks.into_iter().enumerate().map(|(at, block)| part(block, &format!("system[{at}]"))).collect()
        }
    }
}

fn string_part(text: String) -> Part {
    let mut part = Part::text(text);
    part.extras.mark(ID, AS_STRING);
    part
}

fn message((at, mut turn): (usize, Turn)) -> Result<Message, WireError> {
    let path = format!("messages[{at}]");
    let role = match turn.role.take().as_deref() {
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("system") => Role::System,
        // A role we do not know stays in the extras and goes back to its own protocol; elsewhere it is the client speaking.
        Some(other) => {
            turn.role = Some(other.to_owned());
            Role::User
        }
        None => return Err(missing("role").under(&path)),
    };
    let mut marks = Extras::NONE;
    let parts = match turn.content.take() {
        Some(content) => parts(content, &format!("{path}.content"))?,
        // An instruction may consist of settings alone.
        None if role == Role::System => {
            marks.mark(ID, NO_CONTENT);
            Vec::new()
        }
        None => return Err(missing("content").under(&path)),
    };
    let mut extras = Extras::rest(ID, turn.leftovers());
    extras.merge(marks);
    Ok(Message { role, parts, extras })
}

fn parts(content: StrOr<Block>, path: &str) -> Result<Vec<Part>, WireError> {
    match content {
        StrOr::Str(text) => Ok(vec![string_part(text)]),
        StrOr::List(blocks) => {
            blocks.into_iter().enumerate().map(|(at, block)| part(block, &format!("{path}[{at}]"))).collect()
        }
    }
}

pub(super) fn part(mut block: Block, path: &str) -> Result<Part, WireError> {
    let cache = block.cache_control.take().map(cache_mark);
    let kind = block.kind.take().ok_or_else(|| missing("type").under(path))?;
    let mut part = match kind.as_str() {
        "text" => Part::text(need(block.text.take(), "text", path)?),
        "thinking" => thinking_part(&mut block, path)?,
        "redacted_thinking" => {
            let data = need(block.data.take(), "data", path)?;
            Part::new(PartBody::Redacted(ids::unfold_seal(data, ID.name())))
        }
        "tool_use" => tool_call(&mut block, path)?,
        "tool_result" => tool_result(&mut block, path)?,
        "image" | "document" => match media(&kind, &mut block, path)? {
            Some(part) => part,
            None => return Ok(opaque(kind, cache, block)),
        },
        _ => return Ok(opaque(kind, cache, block)),
    };
    part.cache = cache;
    let own = std::mem::take(&mut part.extras);
    part.extras = Extras::rest(ID, block.leftovers());
    part.extras.merge(own);
    Ok(part)
}

fn need<T>(value: Option<T>, field: &str, path: &str) -> Result<T, WireError> {
    value.ok_or_else(|| missing(field).under(path))
}

/// A block of a type we have no word for, put together again as it came.
fn opaque(kind: String, cache: Option<CacheMark>, mut block: Block) -> Part {
    block.kind = Some(kind);
    let mut part =
        Part::new(PartBody::Opaque(Opaque { origin: ID, value: Value::Object(block.leftovers()) }));
    part.cache = cache;
    part
}

pub(super) fn cache_mark(mut control: CacheControl) -> CacheMark {
    let ttl = control.ttl.take();
    control.kind.take_if(|kind| kind == "ephemeral");
    CacheMark { ttl, extras: Extras::rest(ID, control.leftovers()) }
}

fn thinking_part(block: &mut Block, path: &str) -> Result<Part, WireError> {
    let text = need(block.thinking.take(), "thinking", path)?;
    let mut part = Part::new(PartBody::Thinking(text));
    let signature = block.signature.take_if(|signature| !signature.is_empty());
    part.seal = signature.map(|signature| ids::unfold_seal(signature, ID.name()));
    Ok(part)
}

fn tool_call(block: &mut Block, path: &str) -> Result<Part, WireError> {
    let (id, seal) = ids::unfold(&need(block.id.take(), "id", path)?);
    let name = need(block.name.take(), "name", path)?;
    let input = need(block.input.take(), "input", path)?;
    if !input.is_object() {
        return Err(WireError::malformed(ID, format!("{path}.input"), "must be an object"));
    }
    let arguments = input.into_text();
    let mut part = Part::new(PartBody::ToolCall(ToolCall { id, name, arguments, kind: CallKind::Function }));
    part.seal = seal;
    Ok(part)
}

fn tool_result(block: &mut Block, path: &str) -> Result<Part, WireError> {
    let (id, _) = ids::unfold(&need(block.tool_use_id.take(), "tool_use_id", path)?);
    let mut extras = Extras::NONE;
    let content = match block.content.take() {
        None => {
            extras.mark(ID, NO_CONTENT);
            Vec::new()
        }
        Some(content) => inner(content, &format!("{path}.content"))?,
    };
    let is_error = block.is_error.take();
    let result = ToolResult { id, name: None, content, is_error, kind: CallKind::Function };
    Ok(Part { extras, ..Part::new(PartBody::ToolResult(result)) })
}

fn inner(content: Inner, path: &str) -> Result<Vec<Part>, WireError> {
    match content {
        Inner::Str(text) => Ok(vec![string_part(text)]),
        Inner::List(list) => list
            .into_iter()
            .enumerate()
            .map(|(at, json)| {
                let path = format!("{path}[{at}]");
                part(parse_at(ID, json.text(), &path)?, &path)
            })
            .collect(),
        Inner::Written(content) => parts(content, path),
        // Read again for the words that say what it should be.
        Inner::Other(value) => parts(parse_at(ID, &value.to_string(), path)?, path),
    }
}

/// An image or document; None when its source is of a kind we have no word for.
fn media(kind: &str, block: &mut Block, path: &str) -> Result<Option<Part>, WireError> {
    let json: &Json = block.source.as_ref().ok_or_else(|| missing("source").under(path))?;
    let path = format!("{path}.source");
    let mut source: Source = parse_at(ID, json.text(), &path)?;
    let place = match source.kind.as_deref() {
        Some("base64") => MediaSource::Base64(need(source.data.take(), "data", &path)?),
        Some("text") => MediaSource::Text(need(source.data.take(), "data", &path)?),
        Some("url") => MediaSource::Url(need(source.url.take(), "url", &path)?),
        Some("file") => MediaSource::FileId(need(source.file_id.take(), "file_id", &path)?),
        Some(_) | None => return Ok(None),
    };
    source.kind = None;
    let media = Media {
        kind: if kind == "image" { MediaKind::Image } else { MediaKind::Document },
        mime: source.media_type.take(),
        source: place,
        name: block.title.take_if(|_| kind == "document"),
    };
    block.source = None;
    let encoded = matches!(media.source, MediaSource::Base64(_)) && media.kind == MediaKind::Document;
    let mut part = Part::new(PartBody::Media(media));
    if encoded {
        part.extras.mark(ID, AS_BASE64);
    }
    let left = source.leftovers();
    if !left.is_empty() {
        part.extras.insert(ID, "source", Value::Object(left));
    }
    Ok(Some(part))
}

fn tool((at, mut tool): (usize, Tool)) -> Result<ToolDecl, WireError> {
    let cache = tool.cache_control.take().map(cache_mark);
    let named = tool.name.clone();
    let mut marks = Extras::NONE;
    match tool.kind.take().as_deref() {
        None => {}
        Some("custom") => marks.mark(ID, AS_CUSTOM),
        Some(other) => {
            tool.kind = Some(other.to_owned());
            let name = named.unwrap_or_else(|| other.to_owned());
            let kind = ToolKind::Server(Opaque { origin: ID, value: Value::Object(tool.leftovers()) });
            return Ok(ToolDecl { name, description: None, kind, strict: None, cache, extras: Extras::NONE });
        }
    }
    let name = need(tool.name.take(), "name", &format!("tools[{at}]"))?;
    let description = tool.description.take();
    let kind = ToolKind::Function { parameters: tool.input_schema.take() };
    let strict = tool.strict.take();
    let mut extras = Extras::rest(ID, tool.leftovers());
    extras.merge(marks);
    Ok(ToolDecl { name, description, kind, strict, cache, extras })
}

fn choice(call: &mut Call, request: &mut Request) -> Result<(), WireError> {
    let Some(choice) = &mut call.tool_choice else { return Ok(()) };
    request.parallel_tools = choice.disable_parallel_tool_use.take().map(|disabled| !disabled);
    request.tool_choice = Some(match choice.kind.as_deref() {
        Some("auto") => ToolChoice::Auto,
        Some("any") => ToolChoice::Any,
        Some("none") => ToolChoice::None,
        Some("tool") => ToolChoice::Named(need(choice.name.take(), "name", "tool_choice")?),
        Some(_) => {
            let value = Value::Object(std::mem::take(choice).leftovers());
            call.tool_choice = None;
            request.tool_choice = Some(ToolChoice::Opaque(Opaque { origin: ID, value }));
            return Ok(());
        }
        None => return Err(missing("type").under("tool_choice")),
    });
    choice.kind = None;
    keep_rest(&mut call.tool_choice, Choice::leftovers, "tool_choice", &mut request.extras);
    Ok(())
}

fn thinking(call: &mut Call, request: &mut Request) {
    let effort = call.output_config.as_mut().and_then(|config| config.effort.take());
    let is_empty = |config: &mut ThinkingConfig| config.clone().leftovers().is_empty();
    let mut asked = call.thinking.take_if(|config| !is_empty(config));
    if effort.is_none() && asked.is_none() {
        return;
    }
    let mut thinking = Thinking { effort: effort.as_deref().map(Effort::parse), ..Thinking::default() };
    if let Some(config) = &mut asked {
        thinking.mode = match config.kind.as_deref() {
            Some("enabled") => Some(ThinkingMode::On),
            Some("disabled") => Some(ThinkingMode::Off),
            Some("adaptive") => Some(ThinkingMode::Adaptive),
            Some(_) | None => None,
        };
        if thinking.mode.is_some() {
            config.kind = None;
        }
        thinking.budget = config.budget_tokens.take().map(|count| count.0);
        thinking.show = match config.display.as_deref() {
            Some("summarized") => Some(true),
            Some("omitted") => Some(false),
            Some(_) | None => None,
        };
        if thinking.show.is_some() {
            config.display = None;
        }
    }
    thinking.extras = Extras::rest(ID, asked.map(ThinkingConfig::leftovers).unwrap_or_default());
    request.thinking = Some(thinking);
}

fn format(call: &mut Call, request: &mut Request) {
    let Some(config) = &mut call.output_config else { return };
    if let Some(format) =
        config.format.take_if(|format| format.kind.as_deref() == Some("json_schema") && format.rest.is_none())
    {
        request.format =
            Some(Format::JsonSchema { name: None, description: None, schema: format.schema, strict: None });
    }
    keep_rest(
        &mut call.output_config,
        super::types::OutputConfig::leftovers,
        "output_config",
        &mut request.extras,
    );
}

/// Moves what is left of a nested object to the extras, where the encoder finds it under the same key.
fn keep_rest<T>(slot: &mut Option<T>, leftovers: fn(T) -> Map, key: &str, extras: &mut Extras) {
    let left = slot.take().map(leftovers).unwrap_or_default();
    if !left.is_empty() {
        extras.insert(ID, key, Value::Object(left));
    }
}
