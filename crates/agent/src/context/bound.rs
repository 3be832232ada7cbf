//! Texts, results and messages that may be so large and no larger.

use rail_model::{MediaSource, Message, Part, PartBody, ToolResult};
use rail_route::{estimate_message, estimate_parts, tokens};
use rail_tool::kept_in;

use super::account::Images;
use super::medium;

/// The text, or its beginning and its end with a word on what is missing, so that it is at most `room` tokens.
pub fn cut_middle(text: &str, room: u64) -> String {
    let all = tokens(text);
    if all <= room {
        return text.to_owned();
    }
    let whole = kept_in(text).map(|file| format!("; the whole output is in `{file}`")).unwrap_or_default();
    let share = text.len() as u128 * u128::from(room) / u128::from(all);
    let mut keep = usize::try_from(share).unwrap_or(text.len());
    while keep > 0 {
        let cut = without_middle(text, keep, &whole);
        if tokens(&cut) <= room {
            return cut;
        }
        // Tokens are not spread evenly, and the word on what is missing needs room too.
        keep = keep * 7 / 8;
    }
    // Not even the word on it has room.
    let mut end = text.floor_char_boundary(usize::try_from(room).unwrap_or(usize::MAX));
    while tokens(head(text, end)) > room {
        end = text.floor_char_boundary(end / 2);
    }
    head(text, end).to_owned()
}

fn head(text: &str, end: usize) -> &str {
    text.get(..end).unwrap_or_default()
}

fn without_middle(text: &str, keep: usize, whole: &str) -> String {
    let first = head(text, text.floor_char_boundary(keep.div_ceil(2)));
    let last = text.get(text.ceil_char_boundary(text.len() - keep / 2)..).unwrap_or_default();
    let middle = text.get(first.len()..text.len() - last.len()).unwrap_or_default();
    format!("{first}\n\n[{} characters are left out here{whole}]\n\n{last}", middle.chars().count())
}

/// A result of at most `room` tokens: its text is cut in the middle, and of its images those stay that fit half of the room.
pub fn bound_result(result: ToolResult, room: u64) -> ToolResult {
    let most = Images { count: u64::MAX, bytes: u64::MAX, pixels: u64::MAX };
    ToolResult { content: bound_parts(result.content, room, most), ..result }
}

/// The same for the parts of a message, with at most so many images.
pub(super) fn bound_parts(parts: Vec<Part>, room: u64, most: Images) -> Vec<Part> {
    if estimate_parts(&parts) <= room && Images::of(&parts).within(most) {
        return parts;
    }
    let (mut words, mut described, mut shown) = (Vec::new(), Vec::new(), Vec::new());
    let mut left = room / 2;
    let mut images = Images::default();
    for part in parts {
        let cost = estimate_parts(std::slice::from_ref(&part));
        let all = images.and(Images::of(std::slice::from_ref(&part)));
        let is_medium = matches!(&part.body, PartBody::Media(media) if medium::is_shown(media));
        if is_medium && cost <= left && all.within(most) {
            (left, images) = (left - cost, all);
            shown.push(part);
        } else if is_medium {
            described.push(in_words(part.body));
        } else {
            words.push(in_words(part.body));
        }
    }
    // What a picture was is cut last: it is short.
    let left = room.saturating_sub(estimate_parts(&shown));
    let described = cut_middle(&described.join("\n"), if words.is_empty() { left } else { left / 2 });
    let text = cut_middle(&words.join("\n"), left.saturating_sub(tokens(&described)));
    let said = [text, described].into_iter().filter(|text| !text.trim().is_empty()).map(Part::text);
    said.chain(shown).collect()
}

fn in_words(body: PartBody) -> String {
    match body {
        PartBody::Text(text) | PartBody::Refusal(text) | PartBody::Thinking(text) => text,
        PartBody::Media(media) => match media.source {
            MediaSource::Text(text) => text,
            MediaSource::Base64(_) | MediaSource::Url(_) | MediaSource::FileId(_) => {
                medium::described(&media)
            }
        },
        PartBody::ToolCall(call) => format!("[A call of `{}`]", call.name),
        PartBody::ToolResult(result) => {
            result.content.into_iter().map(|part| in_words(part.body)).collect::<Vec<_>>().join("\n")
        }
        PartBody::Redacted(_) | PartBody::Opaque(_) => {
            "[A block that only its provider can read, no longer shown]".to_owned()
        }
    }
}

/// The messages with smaller results, so that all of it is at most `room` tokens and has at most so many images. None when that
/// is not enough: words, calls and reasoning of the model can't be cut.
pub(super) fn bound_results(messages: &[Message], room: u64, most: Images) -> Option<Vec<Message>> {
    let images =
        messages.iter().map(|message| Images::of(&message.parts)).fold(Images::default(), Images::and);
    let most = if images.within(most) { most } else { Images::default() };
    let mut each = room;
    while each > 0 {
        let bounded: Vec<Message> =
            messages.iter().map(|message| with_results(message, each, most)).collect();
        let tokens = bounded.iter().map(estimate_message).fold(0, u64::saturating_add);
        if tokens <= room {
            return Some(bounded);
        }
        each = each * 3 / 4;
    }
    None
}

fn with_results(message: &Message, each: u64, most: Images) -> Message {
    let bound = |part: &Part| match &part.body {
        PartBody::ToolResult(result) => {
            let content = bound_parts(result.content.clone(), each, most);
            Part { body: PartBody::ToolResult(ToolResult { content, ..result.clone() }), ..part.clone() }
        }
        PartBody::Text(_)
        | PartBody::Refusal(_)
        | PartBody::Thinking(_)
        | PartBody::Redacted(_)
        | PartBody::ToolCall(_)
        | PartBody::Media(_)
        | PartBody::Opaque(_) => part.clone(),
    };
    Message { parts: message.parts.iter().map(bound).collect(), ..message.clone() }
}
