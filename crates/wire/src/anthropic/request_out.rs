//! A request as the API takes it.

use rail_model::{
    CacheMark, Effort, Format, Loss, Map, Message, Opaque, Part, PartBody, Request, Role, Thinking,
    ThinkingMode, ToolChoice, ToolDecl, ToolKind, ToolResult,
};
use serde_json::Value;

use super::inner::Inner;
use super::types::{
    Block, CacheControl, Call, Choice, Metadata, OutputConfig, OutputFormat, ThinkingConfig, Tool, Turn,
};
use super::{AS_CUSTOM, AS_STRING, DELTAS, FRAME, ID, NO_CONTENT, RULES, media_out, settings_out};
use crate::fit::{Fitted, fit};
use crate::protocol::{Encoded, HttpCall, TargetSpec, ThinkingStyle};
use crate::shape::{Count, StrOr};
use crate::{arguments, effort};

/// Fields a request for an answer has and a request for a token count has not.
const NOT_COUNTED: &[&str] =
    &["max_tokens", "stream", "temperature", "top_p", "top_k", "stop_sequences", "metadata"];

pub(super) fn encode(request: &Request, target: &TargetSpec) -> Encoded {
    let (call, fitted, losses) = write(request, target);
    Encoded { call: http("/messages", &call, &fitted.request), losses, restore: fitted.restore }
}

pub(super) fn encode_count(request: &Request, target: &TargetSpec) -> Encoded {
    let (call, fitted, losses) = write(request, target);
    let mut body = call.leftovers();
    // What the client of the same protocol said stays; what we would add does not belong here.
    body.retain(|key, _| {
        request.origin == Some(ID) && key != "max_tokens" || !NOT_COUNTED.contains(&key.as_str())
    });
    Encoded { call: http("/messages/count_tokens", &body, &fitted.request), losses, restore: fitted.restore }
}

fn http(path: &str, body: &impl serde::Serialize, request: &Request) -> HttpCall {
    post(path, serde_json::to_vec(body).unwrap_or_default(), request)
}

pub(super) fn post(path: &str, body: Vec<u8>, request: &Request) -> HttpCall {
    let mut call = HttpCall::post(path, body);
    let own = if request.origin == Some(ID) { request.headers.as_slice() } else { &[] };
    if !own.iter().any(|(name, _)| name == "anthropic-version") {
        call.headers.push(("anthropic-version".to_owned(), "2023-06-01".to_owned()));
    }
    call.headers.extend(own.iter().cloned());
    call
}

fn write(request: &Request, target: &TargetSpec) -> (Call, Fitted, Vec<Loss>) {
    let mut fitted = fit(request, target, &RULES);
    let named = std::mem::take(&mut fitted.losses);
    let mut losses = Vec::new();
    let request = &fitted.request;
    let kept = |key: &str| request.extras.get(ID, key).and_then(Value::as_object);
    let own = request.origin == Some(ID);
    let asked = settings_out::thinking(request, &mut losses);
    let thinking = asked.map(|asked| thinking(&asked, target, own, &mut losses));
    let (thinking, effort) = thinking.unwrap_or_default();
    let sampling = settings_out::sampling(request, thinking.as_ref(), &mut losses);
    let output_config = output_config(request, effort, &mut losses);
    let max_tokens = sampling
        .max_output
        .unwrap_or_else(|| target.max_output.unwrap_or(u64::MAX).min(target.default_max_output));
    let call = Call {
        model: Some(target.model.clone()),
        max_tokens: Some(Count(max_tokens)),
        system: system(&request.system, &mut losses),
        messages: Some(turns(request, &mut losses)),
        tools: (!request.tools.is_empty())
            .then(|| request.tools.iter().map(|decl| tool(decl, own)).collect()),
        tool_choice: choice(request, &mut losses),
        thinking,
        output_config,
        metadata: request
            .user
            .as_ref()
            .map(|user| Metadata { user_id: Some(user.clone()), rest: None }.with_rest(kept("metadata"))),
        stop_sequences: (!sampling.stop.is_empty()).then(|| sampling.stop.clone()),
        temperature: sampling.temperature.clone(),
        top_p: sampling.top_p.clone(),
        top_k: sampling.top_k.clone(),
        stream: request.stream.then_some(true),
        rest: None,
    };
    unsaid(request, &mut losses);
    let call = call.with_rest(request.extras.owned_by(ID));
    fitted.at_origin(&mut losses);
    (call, fitted, [named, losses].concat())
}

/// Settings the protocol has no field for.
fn unsaid(request: &Request, losses: &mut Vec<Loss>) {
    let sampling = &request.sampling;
    let table = [
        ("seed", sampling.seed.is_some()),
        ("frequency_penalty", sampling.frequency_penalty.is_some()),
        ("presence_penalty", sampling.presence_penalty.is_some()),
        ("n", sampling.count.is_some_and(|count| count > 1)),
        ("logprobs", sampling.logprobs == Some(true)),
        ("top_logprobs", sampling.top_logprobs.is_some_and(|count| count > 0)),
    ];
    for (name, said) in table {
        if said {
            losses.push(Loss::new(name, "anthropic has no such setting; left out"));
        }
    }
}

fn system(parts: &[Part], losses: &mut Vec<Loss>) -> Option<StrOr<Block>> {
    match parts {
        [] => None,
        parts => Some(content(parts, "system", losses)),
    }
}

fn turns(request: &Request, losses: &mut Vec<Loss>) -> Vec<Turn> {
    let turns = request.messages.iter().enumerate().map(|(at, message)| turn(at, message, losses));
    let mut turns: Vec<Turn> = turns.collect();
    // The API refuses white space at the end of words that it is to go on from.
    if request.origin != Some(ID)
        && request.messages.last().is_some_and(|message| message.role == Role::Assistant)
        && let Some(StrOr::List(blocks)) = turns.last_mut().and_then(|turn| turn.content.as_mut())
        && let Some(text) = blocks.last_mut().and_then(|block| block.text.as_mut())
    {
        text.truncate(text.trim_end().len());
    }
    turns
}

fn turn(at: usize, message: &Message, losses: &mut Vec<Loss>) -> Turn {
    let role = match message.role {
        Role::Assistant => "assistant",
        Role::User | Role::Tool => "user",
        Role::System => "system",
    };
    let bare = message.parts.is_empty() && message.extras.marked(ID, NO_CONTENT);
    let content = (!bare).then(|| content(&message.parts, &format!("messages[{at}].content"), losses));
    let role = message.extras.get(ID, "role").and_then(Value::as_str).unwrap_or(role);
    Turn { role: Some(role.to_owned()), content, rest: None }.with_rest(message.extras.owned_by(ID))
}

/// A single text that came as a bare string goes back as one; everything else is a list of blocks.
fn content(parts: &[Part], path: &str, losses: &mut Vec<Loss>) -> StrOr<Block> {
    if let [part] = parts
        && let Some(text) = part.as_text()
        && part.extras.marked(ID, AS_STRING)
        && part.cache.is_none()
    {
        return StrOr::Str(text.to_owned());
    }
    let blocks =
        parts.iter().enumerate().filter_map(|(at, part)| block(part, &format!("{path}[{at}]"), losses));
    StrOr::List(blocks.collect())
}

pub(super) fn block(part: &Part, path: &str, losses: &mut Vec<Loss>) -> Option<Block> {
    let mut block = Block::default();
    let mut kind = |name: &str| block.kind = Some(name.to_owned());
    match &part.body {
        PartBody::Text(text) | PartBody::Refusal(text) => {
            kind("text");
            block.text = Some(text.clone());
        }
        PartBody::Thinking(text) => {
            kind("thinking");
            block.thinking = Some(text.clone());
            block.signature = part.seal.as_ref().map(|seal| seal.data.clone());
        }
        PartBody::Redacted(seal) => {
            kind("redacted_thinking");
            block.data = Some(seal.data.clone());
        }
        PartBody::ToolCall(call) => {
            kind("tool_use");
            block.id = Some(call.id.as_str().to_owned());
            block.name = Some(call.name.clone());
            block.input = Some(arguments::object(&call.arguments, path, losses));
        }
        PartBody::ToolResult(result) => {
            kind("tool_result");
            self::result(result, part, &mut block, path, losses);
        }
        PartBody::Media(media) => media_out::media(media, part, &mut block, path, losses),
        PartBody::Opaque(opaque) => return self::opaque(opaque, part),
    }
    block.cache_control = part.cache.as_ref().map(cache_control);
    let mut block = block.with_rest(part.extras.owned_by(ID));
    if let Some(rest) = &mut block.rest {
        rest.retain(|key, _| key != DELTAS && key != FRAME);
    }
    Some(block)
}

fn opaque(opaque: &Opaque, part: &Part) -> Option<Block> {
    // Blocks of other origins were named and removed by `fit`.
    let map = opaque.value.as_object().filter(|_| opaque.origin == ID)?;
    let deltas = part.extras.get(ID, DELTAS).and_then(Value::as_array);
    let map = deltas.map_or_else(|| map.clone(), |deltas| folded(map.clone(), deltas));
    Some(
        Block { cache_control: part.cache.as_ref().map(cache_control), ..Block::default() }
            .with_rest(Some(&map)),
    )
}

/// Puts the streamed pieces of a block that we have no word for into the block.
fn folded(mut block: Map, deltas: &[Value]) -> Map {
    let mut json = String::new();
    for delta in deltas.iter().filter_map(Value::as_object) {
        for (key, value) in delta {
            match (key.as_str(), value, block.get_mut(key)) {
                ("type", _, _) => {}
                ("partial_json", Value::String(piece), _) => json.push_str(piece),
                (_, Value::String(piece), Some(Value::String(text))) => text.push_str(piece),
                _ => {
                    block.insert(key.clone(), value.clone());
                }
            }
        }
    }
    if let Ok(input) = serde_json::from_str(&json) {
        block.insert("input".to_owned(), input);
    }
    block
}

pub(super) fn cache_control(mark: &CacheMark) -> CacheControl {
    let kept = mark.extras.owned_by(ID);
    let kind =
        if kept.is_some_and(|kept| kept.contains_key("type")) { None } else { Some("ephemeral".to_owned()) };
    CacheControl { kind, ttl: mark.ttl.clone(), rest: None }.with_rest(kept)
}

fn result(result: &ToolResult, part: &Part, block: &mut Block, path: &str, losses: &mut Vec<Loss>) {
    block.tool_use_id = Some(result.id.as_str().to_owned());
    block.is_error = result.is_error;
    if !(result.content.is_empty() && part.extras.marked(ID, NO_CONTENT)) {
        let content = content(&result.content, &format!("{path}.content"), losses);
        block.content = Some(Inner::Written(content));
    }
}

fn tool(decl: &ToolDecl, own: bool) -> Tool {
    let cache_control = decl.cache.as_ref().map(cache_control);
    match &decl.kind {
        ToolKind::Server(opaque) => {
            Tool { cache_control, ..Tool::default() }.with_rest(opaque.value.as_object())
        }
        ToolKind::Function { parameters } | ToolKind::Custom { format: parameters } => {
            let schema = if own { parameters.clone() } else { Some(arguments::schema(parameters.as_ref())) };
            Tool {
                kind: decl.extras.marked(ID, AS_CUSTOM).then(|| "custom".to_owned()),
                name: Some(decl.name.clone()),
                description: decl.description.clone(),
                input_schema: schema,
                strict: decl.strict,
                cache_control,
                rest: None,
            }
            .with_rest(decl.extras.owned_by(ID))
        }
    }
}

fn choice(request: &Request, losses: &mut Vec<Loss>) -> Option<Choice> {
    let disable = request.parallel_tools.map(|parallel| !parallel);
    let (kind, name) = match &request.tool_choice {
        // Serial calls can only be asked for beside a choice.
        None if disable == Some(true) && !request.tools.is_empty() => ("auto", None),
        None => return None,
        Some(ToolChoice::Auto) => ("auto", None),
        Some(ToolChoice::None) => ("none", None),
        Some(ToolChoice::Any) => ("any", None),
        Some(ToolChoice::Named(name)) => ("tool", Some(name.clone())),
        Some(ToolChoice::Among { names, required }) => match names.as_slice() {
            [only] if *required => ("tool", Some(only.clone())),
            _ => {
                losses.push(Loss::new(
                    "tool_choice",
                    "anthropic can't limit the choice to several tools; all are allowed",
                ));
                (if *required { "any" } else { "auto" }, None)
            }
        },
        Some(ToolChoice::Opaque(opaque)) => {
            let choice = Choice { disable_parallel_tool_use: disable, ..Choice::default() };
            return Some(choice.with_rest(opaque.value.as_object()));
        }
    };
    let kept = request.extras.get(ID, "tool_choice").and_then(Value::as_object);
    let disable_parallel_tool_use = disable.filter(|_| kind != "none" || request.origin == Some(ID));
    Some(Choice { kind: Some(kind.to_owned()), name, disable_parallel_tool_use, rest: None }.with_rest(kept))
}

/// The thinking block and the effort, by what was asked and what the target understands.
fn thinking(
    asked: &Thinking,
    target: &TargetSpec,
    own: bool,
    losses: &mut Vec<Loss>,
) -> (Option<ThinkingConfig>, Option<Effort>) {
    let style = match (target.thinking, own, asked.budget) {
        (ThinkingStyle::AsAsked, false, Some(_)) => ThinkingStyle::Budget,
        (ThinkingStyle::AsAsked, false, None) => ThinkingStyle::Adaptive,
        (style, ..) => style,
    };
    let off = asked.mode == Some(ThinkingMode::Off) || (!own && asked.effort == Some(Effort::None));
    let (kind, budget, effort) = match style {
        ThinkingStyle::AsAsked => (own_kind(asked), asked.budget, asked.effort.clone()),
        ThinkingStyle::Never => {
            losses.push(Loss::new("thinking", "this model can't be told to think; left out"));
            return (None, None);
        }
        ThinkingStyle::Budget | ThinkingStyle::Adaptive | ThinkingStyle::Effort if off => {
            (Some("disabled"), None, None)
        }
        ThinkingStyle::Budget => {
            (Some("enabled"), effort::tokens(asked, losses).or(Some(effort::USUAL_BUDGET)), None)
        }
        ThinkingStyle::Adaptive => (Some("adaptive"), None, effort(asked, own, losses)),
        ThinkingStyle::Effort => (None, None, effort(asked, own, losses)),
    };
    let display = asked.show.filter(|_| kind != Some("disabled") || own);
    let display = display.filter(|show| own || *show).map(|show| if show { "summarized" } else { "omitted" });
    let config = ThinkingConfig {
        kind: kind.map(str::to_owned),
        budget_tokens: budget.map(Count),
        display: display.filter(|_| kind.is_some()).map(str::to_owned),
        rest: None,
    }
    .with_rest(asked.extras.owned_by(ID));
    let said = config.kind.is_some() || config.rest.is_some();
    (said.then_some(config), effort)
}

/// The API's least effort is `low`; saying none would ask for its usual, which is high.
fn effort(asked: &Thinking, own: bool, losses: &mut Vec<Loss>) -> Option<Effort> {
    let effort = effort::word(asked, losses).filter(|effort| own || *effort != Effort::None)?;
    if own || effort != Effort::Minimal {
        return Some(effort);
    }
    effort::renamed(&effort, Effort::Low.word(), losses);
    Some(Effort::Low)
}

fn own_kind(asked: &Thinking) -> Option<&'static str> {
    asked.mode.map(|mode| match mode {
        ThinkingMode::On => "enabled",
        ThinkingMode::Off => "disabled",
        ThinkingMode::Adaptive => "adaptive",
    })
}

fn output_config(request: &Request, effort: Option<Effort>, losses: &mut Vec<Loss>) -> Option<OutputConfig> {
    let format = match &request.format {
        None | Some(Format::Text) => None,
        Some(Format::JsonSchema { schema, .. }) => {
            Some(OutputFormat { kind: Some("json_schema".to_owned()), schema: schema.clone(), rest: None })
        }
        Some(Format::JsonObject) => {
            losses
                .push(Loss::new("response_format", "anthropic has no JSON mode without a schema; left out"));
            None
        }
        Some(Format::Opaque(_)) => None,
    };
    let kept: Option<&Map> = request.extras.get(ID, "output_config").and_then(Value::as_object);
    let effort = effort.map(|effort| effort.word().to_owned());
    (effort.is_some() || format.is_some() || kept.is_some())
        .then(|| OutputConfig { effort, format, rest: None }.with_rest(kept))
}
