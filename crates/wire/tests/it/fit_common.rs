//! Rules of four imagined protocols, shaped like the real ones, and short words for building requests.

use rail_model::{
    CacheMark, CallId, CallKind, Extras, Media, MediaKind, MediaSource, Message, Opaque, Part, PartBody,
    ProtocolId, Request, Role, Seal, ToolCall, ToolDecl, ToolKind, ToolResult,
};
use rail_wire::fit::{Fitted, Rules, check, fit};
use rail_wire::{ImageLimits, Quirks, Shrunk, TargetSpec};
use serde_json::json;

pub(crate) const ANTHROPIC: Rules = rail_wire::anthropic::RULES;

pub(crate) const CHAT: Rules = rail_wire::openai_chat::RULES;

pub(crate) const RESPONSES: Rules = rail_wire::openai_responses::RULES;

pub(crate) const GEMINI: Rules = rail_wire::gemini::RULES;

pub(crate) const ALL: [Rules; 4] = [ANTHROPIC, CHAT, RESPONSES, GEMINI];

/// A target that keeps to its protocol and gets no cache marks of our own, which would be in the way of most tests.
pub(crate) fn target() -> TargetSpec {
    let quirks = Quirks { inject_cache: false, ..Quirks::default() };
    TargetSpec { quirks, ..TargetSpec::new("m") }
}

/// Stands for an image library: an image is as large as it has bytes, and half of it is smaller.
pub(crate) fn halve(bytes: &[u8], limits: &ImageLimits) -> Result<Shrunk, String> {
    match bytes.len() {
        size if size <= limits.max_bytes => Ok(Shrunk::AsIs),
        size if size <= 2 * limits.max_bytes => {
            Ok(Shrunk::To { mime: "image/jpeg", bytes: bytes[..limits.max_bytes / 2].to_vec() })
        }
        _ => Err("it is no image".to_owned()),
    }
}

pub(crate) fn text(text: &str) -> Part {
    Part::text(text)
}

pub(crate) fn call(id: &str) -> Part {
    call_of(id, "f")
}

pub(crate) fn call_of(id: &str, name: &str) -> Part {
    let call = ToolCall {
        id: CallId::Given(id.into()),
        name: name.into(),
        arguments: r#"{"x":1}"#.into(),
        kind: CallKind::Function,
    };
    Part::new(PartBody::ToolCall(call))
}

pub(crate) fn result(id: &str) -> Part {
    result_with(id, vec![text(&format!("result of {id}"))])
}

pub(crate) fn result_with(id: &str, content: Vec<Part>) -> Part {
    let result = ToolResult {
        id: CallId::Given(id.into()),
        name: None,
        content,
        is_error: None,
        kind: CallKind::Function,
    };
    Part::new(PartBody::ToolResult(result))
}

pub(crate) fn interrupted(id: &str) -> Part {
    let content = vec![text("The call was interrupted and has no result.")];
    let mut part = result_with(id, content);
    if let PartBody::ToolResult(result) = &mut part.body {
        result.is_error = Some(true);
    }
    part
}

pub(crate) fn thinking(issuer: Option<&str>) -> Part {
    let seal = issuer.map(|issuer| Seal { issuer: issuer.into(), data: "sig".into() });
    Part { seal, ..Part::new(PartBody::Thinking("hm".into())) }
}

pub(crate) fn image(base64: &str) -> Part {
    media(MediaKind::Image, MediaSource::Base64(base64.into()))
}

pub(crate) fn media(kind: MediaKind, source: MediaSource) -> Part {
    Part::new(PartBody::Media(Media { kind, mime: Some("image/png".into()), source, name: None }))
}

pub(crate) fn user(parts: impl Into<Vec<Part>>) -> Message {
    Message::new(Role::User, parts.into())
}

pub(crate) fn assistant(parts: impl Into<Vec<Part>>) -> Message {
    Message::new(Role::Assistant, parts.into())
}

pub(crate) fn tool(parts: impl Into<Vec<Part>>) -> Message {
    Message::new(Role::Tool, parts.into())
}

pub(crate) fn system(words: &str) -> Message {
    Message::new(Role::System, vec![text(words)])
}

pub(crate) fn function(name: &str) -> ToolDecl {
    let kind = ToolKind::Function { parameters: None };
    ToolDecl { name: name.into(), description: None, kind, strict: None, cache: None, extras: Extras::NONE }
}

/// A request from nowhere.
pub(crate) fn asked(messages: impl Into<Vec<Message>>) -> Request {
    Request { messages: messages.into(), ..Request::default() }
}

/// The same in the protocol's own words.
pub(crate) fn own(rules: &Rules, messages: impl Into<Vec<Message>>) -> Request {
    Request { origin: Some(rules.protocol), ..asked(messages) }
}

/// Fits, and sees that the answer breaks no rule.
pub(crate) fn fitted(request: &Request, target: &TargetSpec, rules: &Rules) -> Fitted {
    let fitted = fit(request, target, rules);
    assert_eq!(check(&fitted.request, target, rules), [""; 0], "{:#?}", fitted.request);
    fitted
}

/// The losses, one a line.
pub(crate) fn losses(fitted: &Fitted) -> String {
    let lines: Vec<_> = fitted.losses.iter().map(|loss| format!("{}: {}", loss.path, loss.reason)).collect();
    lines.join("\n")
}

pub(crate) const OTHER: ProtocolId = ProtocolId::new("other");

/// Fits messages from nowhere and gives what goes out, with the losses.
pub(crate) fn sent(rules: &Rules, messages: impl Into<Vec<Message>>) -> (Vec<Message>, String) {
    let fitted = fitted(&asked(messages), &target(), rules);
    let said = losses(&fitted);
    (fitted.request.messages, said)
}

pub(crate) fn marked(mut part: Part) -> Part {
    part.cache = Some(CacheMark::default());
    part
}

pub(crate) fn extras(origin: ProtocolId, keys: &[&str]) -> Extras {
    let mut extras = Extras::default();
    keys.iter().for_each(|key| extras.insert(origin, *key, json!(1)));
    extras
}

pub(crate) fn opaque(origin: ProtocolId) -> Opaque {
    Opaque { origin, value: json!({ "type": "x_search" }) }
}
