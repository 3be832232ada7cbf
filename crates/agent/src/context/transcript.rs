//! A conversation as plain text: any model can read it, whatever seals, images and tools it had.

use std::collections::BTreeMap;

use rail_model::{Message, Part, PartBody, Role};
use rail_route::tokens;

use super::bound::cut_middle;
use super::medium;
use super::steps::note;

const BEGIN: &str = "<conversation>\n";
const END: &str = "\n</conversation>";

/// The most tokens of one output, of the arguments of one call, and of one text of the model. The first that fits is taken.
const BOUNDS: [(u64, u64, u64); 4] =
    [(2_000, 1_000, 8_000), (500, 300, 2_000), (120, 100, 500), (30, 30, 100)];

/// The conversation in at most `room` tokens: outputs are cut first, then calls and texts, and in the end the middle of it all.
pub(super) fn transcript(messages: &[Message], room: u64) -> String {
    let room = room.saturating_sub(tokens(BEGIN) + tokens(END));
    let mut text = String::new();
    for bounds in BOUNDS {
        text = written(messages, bounds);
        if tokens(&text) <= room {
            break;
        }
    }
    let text = cut_middle(&text, room).replace(END.trim(), "</ conversation>");
    format!("{BEGIN}{text}{END}")
}

fn written(messages: &[Message], bounds: (u64, u64, u64)) -> String {
    let mut names: BTreeMap<&str, &str> = BTreeMap::new();
    let mut said = Vec::new();
    for message in messages {
        for part in &message.parts {
            if let PartBody::ToolCall(call) = &part.body {
                names.insert(call.id.as_str(), &call.name);
            }
            said.extend(spoken(message.role, part, &names, bounds));
        }
    }
    said.join("\n\n")
}

fn spoken(
    role: Role,
    part: &Part,
    names: &BTreeMap<&str, &str>,
    (output, arguments, text): (u64, u64, u64),
) -> Option<String> {
    let who = match role {
        Role::User => "User",
        Role::Assistant => "Assistant",
        Role::System | Role::Tool => "Note",
    };
    Some(match &part.body {
        PartBody::Text(words) if words.trim().is_empty() => return None,
        PartBody::Text(words) => match note(words) {
            Some(earlier) => format!("Earlier:\n{earlier}"),
            None => format!("{who}:\n{}", cut_middle(words, text)),
        },
        PartBody::Refusal(words) => format!("{who}:\n{}", cut_middle(words, text)),
        PartBody::ToolCall(call) => {
            format!("Call of `{}`:\n{}", call.name, cut_middle(&call.arguments, arguments))
        }
        PartBody::ToolResult(result) => {
            let name = names.get(result.id.as_str()).copied().or(result.name.as_deref()).unwrap_or("a tool");
            let failed = if result.is_error == Some(true) { ", which failed" } else { "" };
            format!("Output of `{name}`{failed}:\n{}", cut_middle(&plain(&result.content), output))
        }
        PartBody::Media(media) => format!("{who}:\n{}", medium::described(media)),
        // Reasoning led to what was said and done, which is here.
        PartBody::Thinking(_) | PartBody::Redacted(_) | PartBody::Opaque(_) => return None,
    })
}

fn plain(content: &[Part]) -> String {
    let words = |part: &Part| match &part.body {
        PartBody::Text(text) | PartBody::Refusal(text) | PartBody::Thinking(text) => Some(text.clone()),
        PartBody::Media(media) => Some(medium::described(media)),
        PartBody::Redacted(_) | PartBody::ToolCall(_) | PartBody::ToolResult(_) | PartBody::Opaque(_) => None,
    };
    content.iter().filter_map(words).collect::<Vec<_>>().join("\n")
}
