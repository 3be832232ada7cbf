//! How the pieces of each kind of part are told in a stream.

use rail_model::{CallKind, Delta, Extras, Logprob, Map, Part, PartBody, ToolCall};

use super::frames::Piece;
use super::{EMPTY, FRAMES, ID, OBFUSCATION, RAW, kept_fields};

/// The events by which a part's text is told.
pub(super) struct Family {
    pub(super) delta: &'static str,
    pub(super) done: &'static str,
    /// Where the complete text stands.
    pub(super) field: for<'p, 'a> fn(&'p mut Piece<'a>) -> &'p mut Option<&'a str>,
    pub(super) has_logprobs: bool,
}

pub(super) fn family(part: &Part) -> Option<(Family, &str)> {
    let raw = part.extras.marked(ID, RAW);
    let (delta, done, field, text): (_, _, for<'p, 'a> fn(&'p mut Piece<'a>) -> &'p mut Option<&'a str>, _) =
        match &part.body {
            PartBody::Text(text) => {
                ("response.output_text.delta", "response.output_text.done", |piece| &mut piece.text, text)
            }
            PartBody::Refusal(text) => {
                ("response.refusal.delta", "response.refusal.done", |piece| &mut piece.refusal, text)
            }
            PartBody::Thinking(_) if part.extras.marked(ID, EMPTY) => return None,
            PartBody::Thinking(text) if raw => (
                "response.reasoning_text.delta",
                "response.reasoning_text.done",
                |piece| &mut piece.text,
                text,
            ),
            PartBody::Thinking(text) => (
                "response.reasoning_summary_text.delta",
                "response.reasoning_summary_text.done",
                |piece| &mut piece.text,
                text,
            ),
            PartBody::ToolCall(ToolCall { kind: CallKind::Function, arguments, .. }) => (
                "response.function_call_arguments.delta",
                "response.function_call_arguments.done",
                |piece| &mut piece.arguments,
                arguments,
            ),
            PartBody::ToolCall(ToolCall { kind: CallKind::Custom, arguments, .. }) => (
                "response.custom_tool_call_input.delta",
                "response.custom_tool_call_input.done",
                |piece| &mut piece.input,
                arguments,
            ),
            PartBody::Redacted(_) | PartBody::ToolResult(_) | PartBody::Media(_) | PartBody::Opaque(_) => {
                return None;
            }
        };
    let has_logprobs = matches!(part.body, PartBody::Text(_));
    Some((Family { delta, done, field, has_logprobs }, text))
}

/// Adds a piece to a part and gives the events it is told by.
pub(super) fn grow(part: &mut Part, text: &str, logprobs: &[Logprob]) -> Option<Family> {
    match &mut part.body {
        PartBody::Text(all) | PartBody::Refusal(all) | PartBody::Thinking(all) => all.push_str(text),
        PartBody::ToolCall(call) => call.arguments.push_str(text),
        PartBody::Redacted(_) | PartBody::ToolResult(_) | PartBody::Media(_) | PartBody::Opaque(_) => {}
    }
    part.logprobs.extend_from_slice(logprobs);
    family(part).map(|(family, _)| family)
}

/// Unknown fields of a piece's frame, and the padding that hides its length.
pub(super) fn piece_fields(extras: &Extras) -> Map {
    let mut map: Map = kept_fields(extras).collect();
    if let Some(padding) = extras.get(ID, OBFUSCATION) {
        map.insert("obfuscation".to_owned(), padding.clone());
    }
    map
}

/// Reasoning of which only the seal was given is told as reasoning that nobody sees.
pub(super) fn sealed_only(part: Part, first: &Delta) -> Part {
    match (&part.body, first) {
        (PartBody::Thinking(_), Delta::Seal(seal)) => Part { body: PartBody::Redacted(seal.clone()), ..part },
        _ => part,
    }
}

pub(super) fn frames<'a>(extras: &'a Extras, name: &str) -> Option<&'a Map> {
    extras.get(ID, FRAMES)?.get(name)?.as_object()
}
