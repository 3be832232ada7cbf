//! Short words for conversations, and what every one of them must keep.

use std::collections::BTreeSet;

use rail_agent::context::Budget;
use rail_model::{
    CallId, CallKind, Extras, Media, MediaKind, MediaSource, Message, Part, PartBody, Reply, Request, Role,
    Seal, Stop, ToolCall, ToolResult,
};
use rail_route::estimate_message;
use rail_wire::fit::{Rules, check, fit};
use rail_wire::{Quirks, TargetSpec};

/// The header of a GIF of 4×3 pixels.
const GIF: &str = "R0lGODlhBAADAAAAACwAAAAABAADAAACAoRRADs=";

pub(crate) fn user(parts: impl Into<Vec<Part>>) -> Message {
    Message::new(Role::User, parts.into())
}

pub(crate) fn says(text: &str) -> Message {
    user([Part::text(text)])
}

pub(crate) fn assistant(parts: impl Into<Vec<Part>>) -> Message {
    Message::new(Role::Assistant, parts.into())
}

pub(crate) fn tool(parts: impl Into<Vec<Part>>) -> Message {
    Message::new(Role::Tool, parts.into())
}

pub(crate) fn call(id: &str, name: &str, arguments: &str) -> Part {
    let id = CallId::Given(id.into());
    let call = ToolCall { id, name: name.into(), arguments: arguments.into(), kind: CallKind::Function };
    Part::new(PartBody::ToolCall(call))
}

pub(crate) fn result(id: &str, content: impl Into<Vec<Part>>) -> Part {
    let id = CallId::Given(id.into());
    let result =
        ToolResult { id, name: None, content: content.into(), is_error: None, kind: CallKind::Function };
    Part::new(PartBody::ToolResult(result))
}

pub(crate) fn gave(id: &str, text: &str) -> Part {
    result(id, [Part::text(text)])
}

pub(crate) fn image() -> Part {
    let source = MediaSource::Base64(GIF.into());
    Part::new(PartBody::Media(Media {
        kind: MediaKind::Image,
        mime: Some("image/gif".into()),
        source,
        name: None,
    }))
}

pub(crate) fn thinking(text: &str) -> Part {
    let seal = Some(Seal { issuer: "anthropic".into(), data: "sealed".into() });
    Part { seal, ..Part::new(PartBody::Thinking(text.into())) }
}

/// An answer of a model.
pub(crate) fn reply(text: &str) -> Reply {
    Reply {
        id: None,
        model: None,
        parts: vec![Part::text(text)],
        stop: Stop::EndTurn,
        usage: None,
        extras: Extras::NONE,
        end: Extras::NONE,
    }
}

/// So many words.
pub(crate) fn words(count: usize) -> String {
    (0..count).map(|nth| format!("word{nth} ")).collect()
}

pub(crate) fn tokens(messages: &[Message]) -> u64 {
    messages.iter().map(estimate_message).sum()
}

/// What the user sees of a conversation: one line a part.
pub(crate) fn shown(messages: &[Message]) -> String {
    let mut lines = Vec::new();
    for message in messages {
        for part in &message.parts {
            lines.push(format!("{:?}: {}", message.role, shown_part(part)));
        }
    }
    lines.join("\n")
}

fn shown_part(part: &Part) -> String {
    match &part.body {
        PartBody::Text(text) => text.clone(),
        PartBody::ToolCall(call) => format!("{} {}", call.name, call.arguments),
        PartBody::ToolResult(result) => {
            format!("= {}", result.content.iter().map(shown_part).collect::<Vec<_>>().join(" | "))
        }
        other => format!("{other:?}").chars().take(40).collect(),
    }
}

/// Sees that a conversation fits its budget and that every protocol takes it as it is.
pub(crate) fn judge(messages: &[Message], budget: &Budget) -> Result<(), String> {
    let (used, room) = (tokens(messages), budget.room());
    if used > room {
        return Err(format!("{used} tokens in {room}"));
    }
    let images = messages.iter().flat_map(|message| &message.parts).map(count_images).sum::<u64>();
    if images > budget.images.count {
        return Err(format!("{images} images"));
    }
    if messages.first().is_none_or(|message| message.role != Role::User) {
        return Err("the user does not begin".into());
    }
    pairs(messages)?;
    [
        rail_wire::anthropic::RULES,
        rail_wire::openai_chat::RULES,
        rail_wire::openai_responses::RULES,
        rail_wire::gemini::RULES,
    ]
    .iter()
    .try_for_each(|rules| accepted(messages, rules))
}

pub(crate) fn count_images(part: &Part) -> u64 {
    match &part.body {
        PartBody::Media(_) => 1,
        PartBody::ToolResult(result) => result.content.iter().map(count_images).sum(),
        _ => 0,
    }
}

/// Every call has its result before the model speaks again, and every result its call.
fn pairs(messages: &[Message]) -> Result<(), String> {
    let mut open = BTreeSet::new();
    for (at, message) in messages.iter().enumerate() {
        if message.role == Role::Assistant && !open.is_empty() {
            return Err(format!("calls without results before message {at}: {open:?}"));
        }
        for part in &message.parts {
            match &part.body {
                PartBody::ToolCall(call) => {
                    open.insert(call.id.as_str());
                }
                PartBody::ToolResult(result) if !open.remove(result.id.as_str()) => {
                    return Err(format!("a result without a call in message {at}"));
                }
                _ => {}
            }
        }
    }
    if open.is_empty() { Ok(()) } else { Err(format!("calls without results: {open:?}")) }
}

/// Nothing of the conversation's order had to be mended for this protocol.
fn accepted(messages: &[Message], rules: &Rules) -> Result<(), String> {
    let mut messages = messages.to_vec();
    if messages.last().is_some_and(|message| message.role == Role::Assistant) {
        messages.push(says("Go on."));
    }
    let target =
        TargetSpec { quirks: Quirks { inject_cache: false, ..Quirks::default() }, ..TargetSpec::new("m") };
    let fitted = fit(&Request { messages, ..Request::default() }, &target, rules);
    let broken = check(&fitted.request, &target, rules);
    if !broken.is_empty() {
        return Err(format!("{}: {broken:?}", rules.protocol));
    }
    // What a protocol makes of images, of foreign reasoning and of ids that come again is not for a window to know.
    let of_kind = |reason: &str| {
        [
            "reasoning without",
            "can read its seals",
            "takes no such id",
            "moved to the user message",
            "image left out",
        ]
        .iter()
        .any(|kind| reason.contains(kind))
    };
    let mended: Vec<_> = fitted.losses.iter().filter(|loss| !of_kind(&loss.reason)).collect();
    if mended.is_empty() { Ok(()) } else { Err(format!("{}: {mended:?}", rules.protocol)) }
}
