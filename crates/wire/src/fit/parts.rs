//! Each part by itself, where it stands: what may stay, what goes, what becomes a note.

use rail_model::{Opaque, Part, PartBody, Role, ToolResult};
use serde_json::Value;

use super::Work;
use super::losses::Place;
use super::rules::Rules;
use super::turns::{Piece, Turn};
use super::{media, seals, tools};

/// Who says a part, or that it is inside a tool's result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Voice {
    System,
    User,
    Assistant,
    Result,
}

/// What becomes of a part.
pub(super) enum Fate {
    /// It stays.
    Stays,
    /// It goes.
    Goes,
    /// A text takes its place.
    Note(String),
    /// A text takes its place, and it is shown in the user message that follows.
    Aside(String),
}

/// How Claude Code's billing line begins.
pub(super) const ATTRIBUTION: &str = "x-anthropic-billing-header:";

/// Fits every part of the request and lays the messages out as turns.
pub(super) fn fit_parts(work: &mut Work<'_>) {
    for (at, part) in std::mem::take(&mut work.request.system).into_iter().enumerate() {
        let place = Place::System(at);
        if !goes_as_attribution(work, place, &part) {
            let kept = keep(work, place, Voice::System, part);
            work.request.system.extend(kept.map(|piece| piece.part));
        }
    }
    for (at, message) in std::mem::take(&mut work.request.messages).into_iter().enumerate() {
        let place = Place::Message(at);
        work.losses.extras(work.rules, place, "", &message.extras);
        let voice = match message.role {
            Role::System => Voice::System,
            Role::User | Role::Tool => Voice::User,
            Role::Assistant => Voice::Assistant,
        };
        let came_empty = message.parts.is_empty();
        let parts = message.parts.into_iter().enumerate();
        let pieces = parts.filter_map(|(at, part)| keep(work, place.inside(at), voice, part)).collect();
        work.turns.push(Turn { place, role: message.role, pieces, extras: message.extras, came_empty });
    }
}

/// Whether this is Claude Code's billing line before all other instructions, and the target must not see it.
fn goes_as_attribution(work: &mut Work<'_>, place: Place, part: &Part) -> bool {
    let first = work.request.system.is_empty();
    let goes =
        first && !work.rules.attribution && part.as_text().is_some_and(|text| text.starts_with(ATTRIBUTION));
    if goes {
        work.losses.add(place, "", "the billing line of Claude Code is for Anthropic only; left out");
    }
    goes
}

fn keep(work: &mut Work<'_>, place: Place, voice: Voice, mut part: Part) -> Option<Piece> {
    seals::unseal(work, place, &mut part);
    let mut aside = Vec::new();
    let sealed = part.seal.is_some();
    let bare = voice == Voice::Result && is_bare(work.rules, &part);
    let fate = match &mut part.body {
        PartBody::Text(_) | PartBody::Refusal(_) if sealed || bare => Fate::Stays,
        PartBody::Text(text) | PartBody::Refusal(text) => fit_text(work, place, text),
        PartBody::Thinking(_) => seals::fit_thinking(work, place, voice, sealed),
        PartBody::Redacted(seal) => seals::fit_redacted(work, place, voice, seal),
        PartBody::ToolCall(call) => tools::fit_call(work, place, voice, call),
        PartBody::ToolResult(result) => fit_result(work, place, voice, result, &mut aside),
        PartBody::Media(media) => media::fit_media(work, place, voice, media),
        PartBody::Opaque(opaque) if opaque.origin == work.rules.protocol => Fate::Stays,
        PartBody::Opaque(opaque) => fit_opaque(work, place, voice, opaque),
    };
    match fate {
        Fate::Goes => return None,
        Fate::Stays => {
            work.losses.extras(work.rules, place, "", &part.extras);
            if !part.logprobs.is_empty() && !work.own {
                work.losses.once(
                    place,
                    "logprobs",
                    "log probabilities of the history are for its author only",
                );
            }
        }
        Fate::Note(text) => part = Part { cache: part.cache, ..Part::text(text) },
        Fate::Aside(text) => {
            let cache = part.cache.take();
            work.losses.extras(work.rules, place, "", &part.extras);
            aside.push(part);
            part = Part { cache, ..Part::text(text) };
        }
    }
    if let Some(cache) = &part.cache {
        work.losses.extras(work.rules, place, "cache_control.", &cache.extras);
    }
    Some(Piece { place, part, aside })
}

/// A block only its origin knows. What the user or a tool said in it stays as text; the model would answer blindly without.
fn fit_opaque(work: &mut Work<'_>, place: Place, voice: Voice, opaque: &Opaque) -> Fate {
    let kind = opaque.value.get("type").and_then(Value::as_str).unwrap_or("part");
    let mut words = Vec::new();
    if voice == Voice::User || voice == Voice::Result {
        readable(&opaque.value, &mut words);
    }
    if words.is_empty() {
        work.losses.add(place, "", format!("`{kind}` is known to {} only; left out", opaque.origin));
        return Fate::Goes;
    }
    work.losses.add(place, "", format!("`{kind}` is known to {} only; its text is kept", opaque.origin));
    Fate::Note(words.join("\n"))
}

/// The strings that protocols put where a person would read them.
fn readable<'a>(value: &'a Value, words: &mut Vec<&'a str>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                match value {
                    Value::String(text)
                        if matches!(key.as_str(), "title" | "text") && !text.trim().is_empty() =>
                    {
                        words.push(text)
                    }
                    Value::Object(_) | Value::Array(_) => readable(value, words),
                    Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
                }
            }
        }
        Value::Array(list) => list.iter().for_each(|value| readable(value, words)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Whether a text came as a bare string of the target's own protocol.
fn is_bare(rules: &Rules, part: &Part) -> bool {
    rules.bare_text.is_some_and(|mark| part.extras.marked(rules.protocol, mark))
}

/// A blank text says nothing and most servers reject it. One with a seal stays: the seal is what is said.
fn fit_text(work: &mut Work<'_>, place: Place, text: &str) -> Fate {
    if work.keeps_blanks() || !text.trim().is_empty() {
        return Fate::Stays;
    }
    if !text.is_empty() {
        work.losses.add(place, "", "a text of white space only; left out");
    }
    Fate::Goes
}

fn fit_result(
    work: &mut Work<'_>,
    place: Place,
    voice: Voice,
    result: &mut ToolResult,
    aside: &mut Vec<Part>,
) -> Fate {
    match voice {
        // One in the assistant's message is moved to where it belongs later.
        Voice::User | Voice::Assistant => {}
        Voice::System | Voice::Result => {
            work.losses.add(place, "", "a tool result can't stand here; left out");
            return Fate::Goes;
        }
    }
    result.name.take_if(|name| name.trim().is_empty());
    if let Some(name) = &mut result.name {
        tools::fit_name(work, name);
    }
    let content = std::mem::take(&mut result.content).into_iter().enumerate();
    result.content = content
        .filter_map(|(at, part)| keep(work, place.inside(at), Voice::Result, part))
        .map(|mut piece| {
            aside.append(&mut piece.aside);
            piece.part
        })
        .collect();
    if !work.rules.error_results && result.is_error.take() == Some(true) {
        say_error(&mut result.content);
    }
    Fate::Stays
}

/// Says in words that a tool failed, unless its first line says so already.
fn say_error(content: &mut Vec<Part>) {
    let text = content.iter_mut().find_map(|part| match &mut part.body {
        PartBody::Text(text) => Some(text),
        PartBody::Refusal(_)
        | PartBody::Thinking(_)
        | PartBody::Redacted(_)
        | PartBody::ToolCall(_)
        | PartBody::ToolResult(_)
        | PartBody::Media(_)
        | PartBody::Opaque(_) => None,
    });
    match text {
        Some(text) if text.lines().next().unwrap_or_default().to_lowercase().contains("error") => {}
        Some(text) => text.insert_str(0, "Error: "),
        None => content.insert(0, Part::text("Error: the tool failed.")),
    }
}
